/* Other programs' names for commands.
 * SPDX-License-Identifier: MIT */
#pragma once

/* Another program's name for a command. words[0] is the name of the command here. words[1], if it
 * is not NULL, is an option that is inserted before the options of the user. */
struct gi_alias {
    const char *name, *words[2];
};

/* Return alias number `index`, or the alias with that name. NULL if there is no such alias */
const struct gi_alias *gi_alias_at(int index);
const struct gi_alias *gi_alias_find(const char *name);
