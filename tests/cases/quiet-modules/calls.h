// SPDX-License-Identifier: GPL-3.0-or-later
// calls.h - what the program and its libraries have from each other

/* Old code of any module ran; new code did. */
void note_old(void);
void note_new(void);

/* Each calls the next one, so deep; what they return says which code it was. */
int first(int depth);
int second(int depth);
int third(int depth);
