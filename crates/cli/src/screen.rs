//! Where text for people goes, and whether it may have colours and a moving line.

use std::io::{IsTerminal, Write};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use report::Colour;

use crate::args::OutputArgs;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stream {
    Stdout,
    Stderr,
}

pub struct Screen {
    stream: Stream,
    is_quiet: bool,
    pub colour: Colour,
    line: ProgressBar,
}

impl Screen {
    pub fn new(output: &OutputArgs) -> Screen {
        let stream = if output.json { Stream::Stderr } else { Stream::Stdout };
        let is_terminal = match stream {
            Stream::Stdout => std::io::stdout().is_terminal(),
            Stream::Stderr => std::io::stderr().is_terminal(),
        };
        let has_colour = is_terminal && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        let line = ProgressBar::new_spinner();
        if output.quiet || !std::io::stderr().is_terminal() {
            line.set_draw_target(ProgressDrawTarget::hidden());
        } else {
            line.set_style(ProgressStyle::default_spinner());
            line.enable_steady_tick(Duration::from_millis(200));
        }
        let colour = if has_colour { Colour::Always } else { Colour::Never };
        Screen { stream, is_quiet: output.quiet, colour, line }
    }

    /// Replaces the moving line.
    pub fn progress(&self, text: String) {
        self.line.set_message(text);
    }

    /// Text that is shown even when quiet. A closed pipe is no reason to stop: the results are on disk.
    pub fn say(&self, text: &str) {
        self.line.suspend(|| {
            let _ = match self.stream {
                Stream::Stdout => std::io::stdout().write_all(text.as_bytes()),
                Stream::Stderr => std::io::stderr().write_all(text.as_bytes()),
            };
        });
    }

    pub fn chat(&self, text: &str) {
        if !self.is_quiet {
            self.say(text);
        }
    }

    pub fn end_progress(&self) {
        self.line.finish_and_clear();
    }
}

/// One line of text on standard output, for scripts and for the commands without a moving line.
pub fn print(text: &str) {
    let _ = std::io::stdout().write_all(text.as_bytes());
}
