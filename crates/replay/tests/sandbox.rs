//! A program under test cannot harm the machine.

mod common;

use std::net::TcpListener;
use std::os::unix::net::UnixListener;
use std::time::{Duration, Instant};

use common::{build_with, input, int, plan};
use replay::{Entry, NativeEnding, Sandbox, Session};
use tempfile::TempDir;

const HOSTILE: &str = r#"
#include <arpa/inet.h>
#include <colt.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
static int written(const char *path) {
  int fd = open(path, O_WRONLY | O_CREAT, 0666);
  return fd >= 0 && write(fd, "x", 1) == 1;
}
int main(void) {
  int which = colt_int("which");
  char path[200];
  if (which <= 3 || which == 8) colt_input(path, sizeof path, "path");
  switch (which) {
  case 1: return written(path);
  case 2: {
    struct sockaddr_un where = {.sun_family = AF_UNIX};
    strncpy(where.sun_path, path, sizeof where.sun_path - 1);
    return connect(socket(AF_UNIX, SOCK_STREAM, 0), (struct sockaddr *)&where, sizeof where) == 0;
  }
  case 3: {
    struct sockaddr_in where = {.sin_family = AF_INET, .sin_port = htons(atoi(path))};
    where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return connect(socket(AF_INET, SOCK_STREAM, 0), (struct sockaddr *)&where, sizeof where) == 0;
  }
  case 4: {
    int born = 0;
    for (int i = 0; i < 300; i++) {
      pid_t child = fork();
      if (child == 0) { setsid(); for (;;) pause(); }
      born += child > 0;
    }
    return born;
  }
  case 5: {
    if (access("left", F_OK) == 0) return 1;
    mkdir("left", 0777);
    return written("left/file") && chdir("left") == 0 && symlink("/", "root") == 0 ? 0 : 2;
  }
  case 6: {
    char block[65536] = {0};
    signal(SIGXFSZ, SIG_IGN);
    int fd = open("large", O_WRONLY | O_CREAT, 0666), n = 0;
    while (n < 1024 && write(fd, block, sizeof block) == (long)sizeof block) n++;
    return n / 16;
  }
  case 7: kill(getppid(), SIGKILL); kill(-1, SIGTERM); return 0;
  case 8: return unlink(path) == 0;
  case 9: for (;;) fork();
  }
  return 0;
}
"#;

fn path(text: &str) -> witness::InputValue {
    let mut bytes = text.as_bytes().to_vec();
    bytes.resize(200, 0);
    input("path", &bytes)
}

fn returned(status: i32) -> NativeEnding {
    NativeEnding::Returned { status }
}

#[test]
fn nothing_outside_the_private_folder_can_be_written() {
    let mut built = build_with(HOSTILE, Entry::Main, |_| {});
    assert_eq!(built.session.sandbox(), Sandbox::Bubblewrap);
    let outside = built.dir.path().join("victim");
    std::fs::write(&outside, "safe").unwrap();
    for target in [outside.to_str().unwrap(), "/etc/colt-victim", "/var/tmp/colt-victim", "/usr/colt-victim"] {
        assert_eq!(built.session.run(&[int("which", 1), path(target)]), returned(0), "{target}");
    }
    assert_eq!(built.session.run(&[int("which", 8), path(outside.to_str().unwrap())]), returned(0));
    assert_eq!(std::fs::read_to_string(&outside).unwrap(), "safe");
    assert_eq!(built.session.run(&[int("which", 1), path("inside")]), returned(1));
}

#[test]
fn the_network_is_out_of_reach() {
    let mut built = build_with(HOSTILE, Entry::Main, |_| {});
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port().to_string();
    assert_eq!(built.session.run(&[int("which", 3), path(&port)]), returned(0));
    let socket = built.dir.path().join("socket");
    let _listener = UnixListener::bind(&socket).unwrap();
    assert_eq!(built.session.run(&[int("which", 2), path(socket.to_str().unwrap())]), returned(0));
}

#[test]
fn tests_do_not_see_each_other() {
    let mut built = build_with(HOSTILE, Entry::Main, |_| {});
    for _ in 0..2 {
        assert_eq!(built.session.run(&[int("which", 5)]), returned(0));
    }
    assert!(std::path::Path::new("/etc").is_dir());
}

#[test]
fn processes_files_and_signals_are_limited() {
    let mut built = build_with(HOSTILE, Entry::Main, |plan| plan.limits.timeout_ms = 1500);
    // No process can be made, as in the world that was explored.
    assert_eq!(built.session.run(&[int("which", 4)]), returned(0));
    assert_eq!(built.session.run(&[int("which", 6)]), returned(16));
    // The server cannot be ended from inside, nor by its tests.
    built.session.run(&[int("which", 7)]);
    let before = Instant::now();
    assert_eq!(built.session.run(&[int("which", 9)]), NativeEnding::TimedOut);
    assert!(before.elapsed() < Duration::from_secs(6));
    assert_eq!(built.session.run(&[int("which", 50)]), returned(0));
}

#[test]
fn without_bubblewrap_limits_still_hold() {
    let dir = TempDir::new().unwrap();
    let mut plan = plan(&dir, HOSTILE, Entry::Main);
    plan.limits.timeout_ms = 1500;
    let mut session = Session::build_in(&plan, &dir.path().join("out"), Some(Sandbox::Limits)).unwrap();
    assert_eq!(session.sandbox(), Sandbox::Limits);
    for _ in 0..2 {
        assert_eq!(session.run(&[int("which", 5)]), returned(0));
    }
    assert_eq!(session.run(&[int("which", 6)]), returned(16));
    assert!(session.sandbox().to_string().contains("bubblewrap does not work"));
}

#[test]
fn a_test_costs_little_more_than_a_fork() {
    let mut built = build_with(HOSTILE, Entry::Main, |_| {});
    let n_tests = 100;
    let before = Instant::now();
    for _ in 0..n_tests {
        assert_eq!(built.session.run(&[int("which", 50)]), returned(0));
    }
    let each = before.elapsed() / n_tests;
    println!("{each:?} a test");
    // Starting the program each time would cost several times this even on an idle machine.
    assert!(each < Duration::from_millis(20), "{each:?} a test");
}
