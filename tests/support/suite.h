/* SPDX-License-Identifier: MIT */
/* How every test binary ends. */
#ifndef RD_TESTS_SUITE_H
#define RD_TESTS_SUITE_H

#include <check.h>

/* Runs the suite, frees it, and returns the exit status of main(). */
int suite_run(Suite *suite);

#endif
