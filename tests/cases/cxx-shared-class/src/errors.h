/* SPDX-License-Identifier: GPL-3.0-or-later */
/* errors.h - what the library throws */

#include <stdexcept>

struct error : std::runtime_error {
	using runtime_error::runtime_error;
};
