/* SPDX-License-Identifier: MIT */
/*
 * mark.h - markers: named points in a program that cost next to nothing until they are switched on
 *
 *     #include <uspl/mark.h>
 *
 *     USPL_MARK(net, accept, "fd=%d peer=%s", fd, peer->name);
 *
 * `uspl-trace mark PID list` shows the markers of a running process, `mark PID on 'net:*'` switches
 * them on. There is nothing to link with, in C and C++, in programs and libraries, with gcc and
 * clang. The format is checked as printf's is, at most eight arguments; they are evaluated only
 * while the marker is on, so they must have no effects. What is given for %s must be a string or
 * NULL. docs/markers.md says more.
 *
 * A marker is one NOP of five bytes, the *site*. Switched on it becomes a jump to a place out of
 * line that evaluates the arguments and has a second NOP, the *call*, which becomes a jump to a
 * probe. Two kinds of ELF notes of the owner "uspl", in a section that is loaded and that needs no
 * relocation by the dynamic linker, tell where both are: compilers copy and merge the two freely,
 * so they are tied together by the marker's name only. A NOP lies within eight aligned bytes: one
 * store changes it.
 */
#ifndef USPL_MARK_H
#define USPL_MARK_H

#define USPL_MARK_OWNER "uspl"
#define USPL_MARK_NOTE_SITE 1 /* type of a note: struct uspl_mark_site */
#define USPL_MARK_NOTE_CALL 2 /* struct uspl_mark_call */
#define USPL_MARK_ARGS_MAX 8

/*
 * An argument's type: its size in bytes, and what it is. All arguments are handed over as 8 bytes:
 * integers sign- or zero-extended, floating-point numbers as a double.
 */
#define USPL_MARK_SIZE 0x1f
#define USPL_MARK_SIGNED 0x20
#define USPL_MARK_FLOAT 0x40
#define USPL_MARK_POINTER 0x80

/* The notes, as the assembler makes them. Distances count from their own place. */
struct uspl_mark_site {
	long long site; /* the NOP */
	long long on;   /* where its jump leads */
	long long name; /* "subsystem:name" */
};

struct uspl_mark_call {
	long long site, name, format;
	unsigned char n_args;
	unsigned char types[15];
	/* Behind it a string: where the arguments are, "%rax $5 ". */
};

/* clang-format off */
#ifdef __cplusplus

/* An argument's type, as a number; arrays count as pointers. */
template <typename T> struct uspl_mark_type_ {
	enum { code = sizeof(T) | (static_cast<T>(-1) < static_cast<T>(1) ? USPL_MARK_SIGNED : 0) };
};
template <typename T> struct uspl_mark_type_<T *> {
	enum { code = sizeof(T *) | USPL_MARK_POINTER };
};
template <> struct uspl_mark_type_<float> {
	enum { code = sizeof(float) | USPL_MARK_FLOAT };
};
template <> struct uspl_mark_type_<double> {
	enum { code = sizeof(double) | USPL_MARK_FLOAT };
};
template <> struct uspl_mark_type_<long double> {
	enum { code = sizeof(long double) | USPL_MARK_FLOAT };
};
template <typename T> char (&uspl_mark_code_(T))[uspl_mark_type_<T>::code];

#define USPL_MARK_TYPE_(x) sizeof(uspl_mark_code_(x))

#else

#define USPL_MARK_TYPE_(x)                                                                         \
	(_Generic((x),                                                                             \
		  float: 4 | USPL_MARK_FLOAT, double: 8 | USPL_MARK_FLOAT,                         \
		  long double: 16 | USPL_MARK_FLOAT, _Bool: 1,                                     \
		  char: 1 | ((char)-1 < (char)1 ? USPL_MARK_SIGNED : 0),                           \
		  signed char: 1 | USPL_MARK_SIGNED, unsigned char: 1,                             \
		  short: 2 | USPL_MARK_SIGNED, unsigned short: 2,                                  \
		  int: 4 | USPL_MARK_SIGNED, unsigned int: 4,                                      \
		  long: 8 | USPL_MARK_SIGNED, unsigned long: 8,                                    \
		  long long: 8 | USPL_MARK_SIGNED, unsigned long long: 8,                          \
		  default: 8 | USPL_MARK_POINTER))
#endif

/*
 * What gcc and clang each have in their own way: a label off the way, all memory behind a pointer.
 */
#ifdef __clang__
#define USPL_MARK_COLD_
#define USPL_MARK_SPAN_ 1 << 20
#else
#define USPL_MARK_COLD_ __attribute__((cold))
#define USPL_MARK_SPAN_
#endif

/* A floating-point number's bits. */
static inline unsigned long uspl_mark_bits_(double value)
{
	unsigned long bits;

	__builtin_memcpy(&bits, &value, sizeof(bits));
	return bits;
}

/* A string; what was written to it is in memory from here on. */
static inline unsigned long uspl_mark_text_(const char *text)
{
	unsigned long word = (unsigned long)text;

	__asm__("" : "+r"(word) : "m"(*(const char (*)[USPL_MARK_SPAN_])text));
	return word;
}

#ifdef __cplusplus

template <typename T> static inline unsigned long uspl_mark_value_(T value)
{
	return (unsigned long)value;
}
static inline unsigned long uspl_mark_value_(float value) { return uspl_mark_bits_(value); }
static inline unsigned long uspl_mark_value_(double value) { return uspl_mark_bits_(value); }
static inline unsigned long uspl_mark_value_(long double value)
{
	return uspl_mark_bits_(static_cast<double>(value));
}
static inline unsigned long uspl_mark_value_(const char *value) { return uspl_mark_text_(value); }
static inline unsigned long uspl_mark_value_(char *value) { return uspl_mark_text_(value); }

#define USPL_MARK_VALUE_(x) uspl_mark_value_(x)

#else

#define USPL_MARK_PICK_(x, real, text, other)                                                      \
	_Generic((x), float: real, double: real, long double: real, char *: text,                  \
		 const char *: text, default: other)
#define USPL_MARK_VALUE_(x)                                                                        \
	USPL_MARK_PICK_(x, uspl_mark_bits_((double)USPL_MARK_PICK_(x, (x), 0, 0)),                 \
			uspl_mark_text_(USPL_MARK_PICK_(x, "", (x), "")),                          \
			(unsigned long)USPL_MARK_PICK_(x, 0, 0, (x)))
#endif

/* Never called: the compiler compares the arguments with the format. */
__attribute__((format(printf, 1, 2), unused)) static inline void
uspl_mark_check_(const char *format, ...)
{
	(void)format;
}

/* A NOP of five bytes within eight aligned ones: at most four bytes are skipped for it. */
#define USPL_MARK_NOP_ ".p2align 3,,4\n771: .byte 0x0f, 0x1f, 0x44, 0x00, 0x00\n"
#define USPL_MARK_NOTE_(type, body)                                                                \
	".pushsection .note.uspl.mark, \"a?\", @note\n"                                            \
	".balign 4\n .long 773f - 772f, 775f - 774f, " type "\n"                                   \
	"772: .asciz \"" USPL_MARK_OWNER "\"\n773: .balign 4\n774: .quad 771b - .\n" body          \
	"775: .balign 4\n .popsection\n"

#define USPL_MARK_SITE_                                                                            \
	USPL_MARK_NOP_ USPL_MARK_NOTE_("1", ".quad %l[uspl_mark_on_] - .\n .quad %c[name] - .\n")
#define USPL_MARK_CALL_(types, places)                                                             \
	USPL_MARK_NOP_ USPL_MARK_NOTE_("2", ".quad %c[name] - .\n .quad %c[format] - .\n"          \
					    "776: .byte %c[n_args]" types "\n .org 776b + 16\n"    \
					    ".asciz \"" places "\"\n")

/* For each argument: its value, its operands, and what stands for it in the note. */
#define USPL_MARK_V_(i, x) unsigned long uspl_mark_v##i##_ = USPL_MARK_VALUE_(x);
#define USPL_MARK_O_(i, x) , [t##i] "i"(USPL_MARK_TYPE_(x)), [v##i] "rn"(uspl_mark_v##i##_)
#define USPL_MARK_T_(i) ", %c[t" #i "]"
#define USPL_MARK_P_(i) "%[v" #i "] "

/* All arguments behind the format, counted down. */
#define USPL_MARK_EACH_0_(m, f)
#define USPL_MARK_EACH_1_(m, f, a) m(1, a)
#define USPL_MARK_EACH_2_(m, f, a, ...) m(2, a) USPL_MARK_EACH_1_(m, f, __VA_ARGS__)
#define USPL_MARK_EACH_3_(m, f, a, ...) m(3, a) USPL_MARK_EACH_2_(m, f, __VA_ARGS__)
#define USPL_MARK_EACH_4_(m, f, a, ...) m(4, a) USPL_MARK_EACH_3_(m, f, __VA_ARGS__)
#define USPL_MARK_EACH_5_(m, f, a, ...) m(5, a) USPL_MARK_EACH_4_(m, f, __VA_ARGS__)
#define USPL_MARK_EACH_6_(m, f, a, ...) m(6, a) USPL_MARK_EACH_5_(m, f, __VA_ARGS__)
#define USPL_MARK_EACH_7_(m, f, a, ...) m(7, a) USPL_MARK_EACH_6_(m, f, __VA_ARGS__)
#define USPL_MARK_EACH_8_(m, f, a, ...) m(8, a) USPL_MARK_EACH_7_(m, f, __VA_ARGS__)
#define USPL_MARK_TEXT_0_(m)
#define USPL_MARK_TEXT_1_(m) m(1)
#define USPL_MARK_TEXT_2_(m) m(2) USPL_MARK_TEXT_1_(m)
#define USPL_MARK_TEXT_3_(m) m(3) USPL_MARK_TEXT_2_(m)
#define USPL_MARK_TEXT_4_(m) m(4) USPL_MARK_TEXT_3_(m)
#define USPL_MARK_TEXT_5_(m) m(5) USPL_MARK_TEXT_4_(m)
#define USPL_MARK_TEXT_6_(m) m(6) USPL_MARK_TEXT_5_(m)
#define USPL_MARK_TEXT_7_(m) m(7) USPL_MARK_TEXT_6_(m)
#define USPL_MARK_TEXT_8_(m) m(8) USPL_MARK_TEXT_7_(m)

#define USPL_MARK_NTH_(f, a, b, c, d, e, g, h, i, n, ...) n
#define USPL_MARK_COUNT_(...) USPL_MARK_NTH_(__VA_ARGS__, 8, 7, 6, 5, 4, 3, 2, 1, 0, 0)
#define USPL_MARK_FIRST_(f, ...) f
#define USPL_MARK_JOIN_(a, n) a##n##_
#define USPL_MARK_WITH_(a, n) USPL_MARK_JOIN_(a, n)

/* label is "subsystem:name"; behind it the format and n arguments. */
#define USPL_MARK_ON_(n, label, ...)                                                               \
	USPL_MARK_WITH_(USPL_MARK_EACH_, n)(USPL_MARK_V_, __VA_ARGS__)                             \
	__asm__ volatile(USPL_MARK_CALL_(USPL_MARK_WITH_(USPL_MARK_TEXT_, n)(USPL_MARK_T_),        \
					 USPL_MARK_WITH_(USPL_MARK_TEXT_, n)(USPL_MARK_P_))        \
			 :                                                                         \
			 : [name] "i"(label), [format] "i"(USPL_MARK_FIRST_(__VA_ARGS__, 0)),      \
			   [n_args] "i"(n)                                                         \
				   USPL_MARK_WITH_(USPL_MARK_EACH_, n)(USPL_MARK_O_, __VA_ARGS__))

#define USPL_MARK_BODY_(label, ...)                                                                \
	do {                                                                                       \
		__label__ uspl_mark_on_;                                                           \
		__asm__ goto(USPL_MARK_SITE_ : : [name] "i"(label) : : uspl_mark_on_);             \
		if (0) {                                                                           \
			uspl_mark_check_(__VA_ARGS__);                                             \
		uspl_mark_on_:                                                                     \
			USPL_MARK_COLD_;                                                           \
			{                                                                          \
				USPL_MARK_ON_(USPL_MARK_COUNT_(__VA_ARGS__), label, __VA_ARGS__);  \
			}                                                                          \
		}                                                                                  \
	} while (0)

/* Marks this place: USPL_MARK(subsystem, name, format, arguments...). */
#if defined(__cplusplus) && defined(__clang__) && __clang_major__ < 17
/* These compilers take the label of one marker for a target of all others of the function. */
#define USPL_MARK(subsystem, name, ...)                                                            \
	[&]() __attribute__((always_inline)) {                                                     \
		USPL_MARK_BODY_(#subsystem ":" #name, __VA_ARGS__);                                \
	}()
#else
#define USPL_MARK(subsystem, name, ...) USPL_MARK_BODY_(#subsystem ":" #name, __VA_ARGS__)
#endif
/* clang-format on */

#endif
