// Program of `make real` for libconfig: a configuration is read, a setting is looked up, changed and removed, and all is written again.
#include <libconfig.h>
#include <stdio.h>

int main(void) {
    config_t config;
    config_init(&config);
    if (!config_read(&config, stdin)) {
        fprintf(stderr, "%d: %s\n", config_error_line(&config), config_error_text(&config));
        config_destroy(&config);
        return 1;
    }
    config_write(&config, stdout);
    config_setting_t *root = config_root_setting(&config);
    int number = 0;
    const char *text = "";
    if (config_lookup_int(&config, "a", &number) || config_lookup_string(&config, "a.b", &text))
        printf("%d %s\n", number, text);
    if (config_setting_length(root) > 0) {
        config_setting_t *first = config_setting_get_elem(root, 0);
        printf("%s %d %g\n", config_setting_name(first), config_setting_type(first), config_setting_get_float(first));
        config_setting_set_int(first, number + 1);
        config_setting_remove_elem(root, 0);
    }
    config_destroy(&config);
    return 0;
}
