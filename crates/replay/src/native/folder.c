// Keeps the private working folder empty between tests, so that no test sees the files of another.

#include <dirent.h>
#include <sys/stat.h>

static void empty_folder(int fd) {
  DIR *folder = fdopendir(fd);
  if (folder == NULL) {
    close(fd);
    return;
  }
  struct dirent *entry;
  while ((entry = readdir(folder)) != NULL) {
    if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
      continue;
    if (unlinkat(fd, entry->d_name, 0) == 0)
      continue;
    int inner = openat(fd, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    if (inner >= 0)
      empty_folder(inner);
    unlinkat(fd, entry->d_name, AT_REMOVEDIR);
  }
  closedir(folder);
}
