// SPDX-License-Identifier: GPL-3.0-or-later
// libclient.c - a small program that uses a library of the machine: answers each line with what the
// library says
//
// Built with -DUSE_Z, -DUSE_EXPAT, -DUSE_CRYPTO or -DUSE_C. It links by symbol against the library
// as shipped, like any other program.

#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#if defined(USE_Z)
#include <zlib.h>

/* Data without a header, which inflate() complains of. */
static const char *complaint(void)
{
	static unsigned char in[] = "no header", out[64];
	static char text[64];
	z_stream stream = {
		.next_in = in, .avail_in = sizeof(in), .next_out = out, .avail_out = sizeof(out)
	};

	if (inflateInit(&stream) != Z_OK)
		return "?";
	inflate(&stream, Z_FINISH);
	snprintf(text, sizeof(text), "%s", stream.msg ? stream.msg : "no complaint");
	inflateEnd(&stream);
	return text;
}

/* There and back: true if what comes back is what went. */
static int works(void)
{
	static unsigned char plain[100000], packed[110000], back[100000];
	uLongf packed_len = sizeof(packed), len = sizeof(back);

	for (size_t i = 0; i < sizeof(plain); i++)
		plain[i] = (unsigned char)(i * i >> 7);
	return compress(packed, &packed_len, plain, sizeof(plain)) == Z_OK &&
	       uncompress(back, &len, packed, packed_len) == Z_OK && len == sizeof(plain) &&
	       !memcmp(plain, back, sizeof(plain));
}

static const char *version(void)
{
	return zlibVersion();
}
#elif defined(USE_EXPAT)
#include <expat.h>

/* What the parser says of a document, and where; NULL if it has nothing against it. */
static const char *parse(const char *document)
{
	static char text[64];
	XML_Parser parser = XML_ParserCreate(NULL);
	enum XML_Status status = XML_Parse(parser, document, (int)strlen(document), 1);

	snprintf(text, sizeof(text), "%s at %ld", XML_ErrorString(XML_GetErrorCode(parser)),
		 (long)XML_GetCurrentByteIndex(parser));
	XML_ParserFree(parser);
	return status == XML_STATUS_ERROR ? text : NULL;
}

static const char *complaint(void)
{
	const char *said = parse("<a><b></a></b>");

	return said ? said : "no complaint";
}

static int works(void)
{
	return !parse("<?xml version='1.0'?><a x='1'><!-- b --><c>&lt;</c><![CDATA[d]]></a>");
}

static const char *version(void)
{
	return XML_ExpatVersion();
}
#elif defined(USE_CRYPTO)
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/x509_vfy.h>

static const char *complaint(void)
{
	return X509_verify_cert_error_string(X509_V_ERR_CERT_HAS_EXPIRED);
}

/* The SHA-256 of "abc" begins like this (FIPS 180-2, B.1). */
static int works(void)
{
	unsigned char sum[EVP_MAX_MD_SIZE];
	unsigned int len;

	return EVP_Digest("abc", 3, sum, &len, EVP_sha256(), NULL) && len == 32 && sum[0] == 0xba &&
	       sum[1] == 0x78;
}

static const char *version(void)
{
	static char text[32];

	snprintf(text, sizeof(text), "%lu", OpenSSL_version_num());
	return text;
}
#elif defined(USE_C)
#include <gnu/libc-version.h>

static const char *complaint(void)
{
	static char text[32];
	const char *volatile same = "same";

	snprintf(text, sizeof(text), "equal is %d", strverscmp(same, same));
	return text;
}

static int works(void)
{
	return strverscmp("a9", "a10") < 0 && strverscmp("b", "a") > 0;
}

static const char *version(void)
{
	return gnu_get_libc_version();
}
#endif

int main(void)
{
	char line[64];

	alarm(900);
	while (fgets(line, sizeof(line), stdin)) {
		printf("%s: %s, %s\n", version(), complaint(), works() ? "works" : "does not work");
		fflush(stdout);
	}
	return 0;
}
