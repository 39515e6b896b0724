// Sendmail: the full name of a user is built from a password entry, where & stands for the login, in a buffer without looking at its size.
#include <ctype.h>
#include <string.h>
#include <colt.h>

#define MAXNAME 30
#define MAXGECOS 64

struct passwd_entry {
    const char *login, *gecos, *home;
};

struct user {
    char login[MAXNAME + 1];
    char full[MAXGECOS + 1];
    int is_alias;
};

static struct user user;

/* Copies up to a comma; & becomes the login with a large letter. */
static void build_full_name(const char *gecos, const char *login, char *buf, size_t size) {
    const char *p;
    char *bp = buf;
    (void)size;
    if (*gecos == '*')
        gecos++;
    for (p = gecos; *p != '\0' && *p != ',' && *p != ';' && *p != '%'; p++) {
#ifdef FIXED
        if (bp >= buf + size - 1)
            break;
#endif
        if (*p == '&') {
#ifdef FIXED
            if (strlen(login) >= size - (size_t)(bp - buf))
                break;
#endif
            strcpy(bp, login);
            *bp = (char)toupper((unsigned char)*bp);
            while (*bp != '\0')
                bp++;
        } else
            *bp++ = *p;
    }
    *bp = '\0';
}

static int set_login(struct user *to, const char *login) {
    if (strlen(login) > MAXNAME)
        return -1;
    strcpy(to->login, login);
    return 0;
}

static int find_user(const struct passwd_entry *entry) {
    char full[MAXGECOS + 1];
    if (set_login(&user, entry->login) < 0)
        return -1;
    build_full_name(entry->gecos, entry->login, full, sizeof full);
    strncpy(user.full, full, sizeof user.full);
    user.is_alias = strcmp(user.login, "postmaster") == 0;
    return 0;
}

int main(void) {
    struct passwd_entry entry = {.login = "root", .home = "/root"};
    entry.gecos = colt_string("gecos");
    if (find_user(&entry) < 0)
        return 1;
    return user.is_alias;
}
