// The surroundings that a test asks for: files in the working folder (inputs named file:NAME) and variables of the
// environment (env:NAME).

static void make_folders(char *path) {
  for (char *at = path; *at != 0; at++)
    if (*at == '/') {
      *at = 0;
      mkdir(path, 0755);
      *at = '/';
    }
}

static void make_file(const char *name, const unsigned char *bytes, size_t size) {
  char path[256];
  snprintf(path, sizeof path, "%s", name);
  make_folders(path);
  int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
  if (fd < 0 || write(fd, bytes, size) != (ssize_t)size)
    _exit(SANITIZER_STATUS);
  close(fd);
}

static void make_world(void) {
  static char *no_environment[1];
  struct input *input = first_input();
  for (uint32_t i = 0; i < exchange->n_inputs; i++) {
    const char *name = input_name(input);
    if (strncmp(name, "file:", 5) == 0)
      make_file(name + 5, input_bytes(input), input->size);
    if (strncmp(name, "env:", 4) == 0)
      setenv(name + 4, (const char *)input_bytes(input), 1);
    input = (struct input *)((char *)input + input->next);
  }
  if (environ == NULL)
    environ = no_environment;
}
