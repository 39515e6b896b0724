//! The memory through which Colt and the natively built program talk; the layout is that of native/exchange.h.

use std::ffi::CStr;
use std::fs::File;
use std::io;
use std::os::fd::FromRawFd;
use std::os::unix::fs::FileExt;

use witness::InputValue;

use crate::plan::Limits;

const TOTAL_BYTES: usize = 64 << 20;
const INPUTS_OFFSET: usize = 8192;
const MAX_FRAMES: usize = 64;
const MAX_MESSAGE: usize = 1024;
const OUTCOME_OFFSET: usize = 24;
const RECORD_BYTES: usize = 16 + 8 + 8 * MAX_FRAMES + MAX_MESSAGE;

/// What the runtime inside the program said about the ending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Nothing: the process ended by exit, a signal or a sanitizer.
    None,
    Returned,
    Assumed,
    Assertion,
    Pointer,
    Abort,
    OutOfInputs,
    InputSize,
}

#[derive(Debug)]
pub struct Record {
    pub outcome: Outcome,
    pub status: i32,
    /// Offsets into the program's image, innermost first.
    pub frames: Vec<u64>,
    pub message: String,
}

pub struct Exchange {
    memory: File,
}

impl Exchange {
    pub fn new() -> io::Result<Exchange> {
        let memory = memory_file(c"colt-exchange")?;
        memory.set_len(TOTAL_BYTES as u64)?;
        Ok(Exchange { memory })
    }

    pub fn file(&self) -> &File {
        &self.memory
    }

    /// Lays out one test and clears the record of the one before. False when the inputs are too large to pass on.
    pub fn write_test(&self, inputs: &[InputValue], limits: &Limits) -> io::Result<bool> {
        let mut bytes = vec![0; INPUTS_OFFSET];
        let head = [limits.timeout_ms, limits.memory_mb, limits.file_mb, limits.max_processes, inputs.len() as u32];
        for (idx, value) in head.iter().enumerate() {
            bytes[idx * 4..idx * 4 + 4].copy_from_slice(&value.to_le_bytes());
        }
        for input in inputs {
            write_input(&mut bytes, input);
        }
        if bytes.len() > TOTAL_BYTES {
            return Ok(false);
        }
        self.memory.write_all_at(&bytes, 0)?;
        Ok(true)
    }

    pub fn read_record(&self) -> io::Result<Record> {
        let mut bytes = [0; RECORD_BYTES];
        self.memory.read_exact_at(&mut bytes, OUTCOME_OFFSET as u64)?;
        let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap_or_default());
        let long = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap_or_default());
        let image_base = long(16);
        // The program under test can write here, so nothing read is trusted as a size.
        let n_frames = (word(8) as usize).min(MAX_FRAMES);
        let frames = (0..n_frames).map(|idx| long(24 + 8 * idx).wrapping_sub(image_base)).collect();
        let message = &bytes[24 + 8 * MAX_FRAMES..];
        let end = message.iter().position(|byte| *byte == 0).unwrap_or(message.len());
        Ok(Record {
            outcome: outcome(word(0)),
            status: word(4) as i32,
            frames,
            message: String::from_utf8_lossy(&message[..end]).into_owned(),
        })
    }
}

fn outcome(code: u32) -> Outcome {
    match code {
        1 => Outcome::Returned,
        2 => Outcome::Assumed,
        3 => Outcome::Assertion,
        4 => Outcome::Abort,
        5 => Outcome::OutOfInputs,
        6 => Outcome::InputSize,
        7 => Outcome::Pointer,
        _ => Outcome::None,
    }
}

fn write_input(bytes: &mut Vec<u8>, input: &InputValue) {
    let name = input.native_name();
    let name_bytes = (name.len() + 1).next_multiple_of(8);
    let next = 16 + name_bytes + input.bytes.len().next_multiple_of(8);
    let start = bytes.len();
    for value in [0, name_bytes as u32, input.bytes.len() as u32, next as u32] {
        bytes.extend_from_slice(&value.to_le_bytes());
    }
    bytes.extend_from_slice(name.as_bytes());
    bytes.resize(start + 16 + name_bytes, 0);
    bytes.extend_from_slice(&input.bytes);
    bytes.resize(start + next, 0);
}

/// A file that lives in memory only and is inherited by nobody unless asked.
pub fn memory_file(name: &CStr) -> io::Result<File> {
    // SAFETY: `name` is NUL-terminated and the returned descriptor is owned by nobody else.
    unsafe {
        let fd = libc::memfd_create(name.as_ptr(), libc::MFD_CLOEXEC);
        if fd < 0 { Err(io::Error::last_os_error()) } else { Ok(File::from_raw_fd(fd)) }
    }
}
