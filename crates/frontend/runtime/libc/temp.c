// Names of temporary files: one after the other, so that they need neither a clock nor chance.
char *__randname(char *template) {
    static unsigned long n_made;
    unsigned long rest = ++n_made;
    for (int i = 5; i >= 0; i--, rest /= 26)
        template[i] = (char)('A' + rest % 26);
    return template;
}
