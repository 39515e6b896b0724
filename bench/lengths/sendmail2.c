// Sendmail: the name of a user is copied to a fixed buffer.
#include <string.h>
#include <colt.h>
struct user { char login[64]; char gecos[128]; };
static void set_login(struct user *user, const char *name) {
    char *to = user->login;
    size_t n = 0;
    while (*name && *name != ' '
#ifdef FIXED
           && n < sizeof user->login - 1
#endif
    ) {
        to[n] = *name++;
        n++;
    }
    to[n] = 0;
}
int main(void) {
    struct user user;
    char login[64];
    char *name = colt_string("name");
    size_t n = 0;
    const char *p = name;
    while (*p && *p != ' '
#ifdef FIXED
           && n < sizeof login - 1
#endif
    ) {
        login[n] = *p++;
        n++;
    }
    login[n] = 0;
    if (n > 200)
        set_login(&user, "root");
    return 0;
}
