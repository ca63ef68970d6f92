/* SPDX-License-Identifier: GPL-3.0-or-later */
/* page_parts.S - the page of a trace for a browser, as it was when the tools were built */
	.section .rodata.uspl_page, "a"
	.global uspl_page_html_begin, uspl_page_html_end
uspl_page_html_begin:
	.incbin "trace/output/page.html"
uspl_page_html_end:
	.global uspl_page_css_begin, uspl_page_css_end
uspl_page_css_begin:
	.incbin "trace/output/page.css"
uspl_page_css_end:
	.global uspl_page_js_begin, uspl_page_js_end
uspl_page_js_begin:
	.incbin "trace/output/page.js"
uspl_page_js_end:
	.section .note.GNU-stack, "", @progbits
