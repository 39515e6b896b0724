//! What the virtual world below the C library asks of the engine: what was wished for on the command line, and real files.

use std::ffi::OsStr;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Component, Path, PathBuf};

use ir::Call;

use super::{Stub, done};
use crate::access::Byte;
use crate::run::{Machine, Next, Step};
use crate::{Access, Label, PickWhy, Shadow, State, Value};

pub const STUBS: &[(&str, Stub)] = &[
    ("__colt_world_text", |machine, state, call, _| machine.world_text(state, call)),
    ("__colt_world_number", |machine, state, call, _| machine.world_number(state, call)),
    ("__colt_room", |machine, state, call, _| machine.room(state, call)),
    ("__colt_real_kind", |machine, state, call, _| machine.real_kind(state, call)),
    ("__colt_real_size", |machine, state, call, _| machine.real_size(state, call)),
    ("__colt_real_read", |machine, state, call, _| machine.real_read(state, call)),
];

/// The working folder's name; native replays have theirs elsewhere.
const CWD: &str = "work";

// As in world.h.
const FILE_NAME: u128 = 0;
const FILE_SIZE: u128 = 1;
const ENVIRONMENT: u128 = 2;
const FAIL_CALLS: u128 = 3;
const STDIN_SIZE: u128 = 4;
const CWD_NAME: u128 = 5;

impl Machine<'_> {
    fn give_long(&mut self, state: &mut State, call: &Call, value: i64) -> Step<Option<Next>> {
        self.give(state, call, Value::concrete(u128::from(value as u64)));
        done()
    }

    /// Writes concrete bytes where a call's argument points.
    fn write_out(&mut self, state: &mut State, to: Value, bytes: &[u8]) -> Step<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        let to = Value::concrete(self.pick(state, to, PickWhy::Address)?);
        let (object, offset) = self.locate(state, to, bytes.len() as u64, Access::Write)?;
        let bytes: Vec<Byte> =
            bytes.iter().map(|byte| Byte { bits: *byte, shadow: Shadow::NONE, is_written: true }).collect();
        self.write_bytes(state, object, offset, &bytes);
        Ok(())
    }

    fn world_text(&mut self, state: &mut State, call: &Call) -> Step<Option<Next>> {
        let (what, idx) = (self.arg(state, call, 0).bits, self.arg(state, call, 1).bits as usize);
        let (out, room) = (self.arg(state, call, 2), self.arg(state, call, 3).bits as usize);
        let world = &self.image.world;
        let text = match what {
            FILE_NAME => world.files.get(idx).map(|file| file.0.as_str()),
            ENVIRONMENT => world.environment.get(idx).map(String::as_str),
            CWD_NAME => Some(CWD),
            _ => None,
        };
        let Some(text) = text else { return self.give_long(state, call, -1) };
        let mut bytes = text.as_bytes().to_vec();
        bytes.push(0);
        bytes.truncate(room);
        let length = text.len() as i64;
        self.write_out(state, out, &bytes)?;
        self.give_long(state, call, length)
    }

    fn world_number(&mut self, state: &mut State, call: &Call) -> Step<Option<Next>> {
        let (what, idx) = (self.arg(state, call, 0).bits, self.arg(state, call, 1).bits as usize);
        let world = &self.image.world;
        let number = match what {
            FILE_SIZE => world.files.get(idx).map_or(0, |file| file.1),
            FAIL_CALLS => world.fail_calls,
            STDIN_SIZE => world.stdin_bytes,
            _ => 0,
        };
        self.give_long(state, call, i64::from(number))
    }

    fn room(&mut self, state: &mut State, call: &Call) -> Step<Option<Next>> {
        let at = self.arg(state, call, 0);
        let addr = self.pick(state, at, PickWhy::Address)? as u64;
        let found = state.memory.find(addr).map(|object| state.memory.get(object));
        let room = found.map_or(0, |object| (object.base + object.size).saturating_sub(addr));
        let life = found.map_or(Label::EMPTY, |object| object.life);
        let label = self.labels.union(at.label(), life);
        self.give(state, call, Value { bits: u128::from(room), shadow: Shadow::new(None, label) });
        done()
    }

    fn real_path(&mut self, state: &State, call: &Call) -> Option<PathBuf> {
        let text = self.concrete_string(state, self.arg(state, call, 0).bits as u64)?;
        let path = Path::new("/").join(OsStr::from_bytes(&text));
        Some(path.components().filter(|part| *part != Component::CurDir).collect())
    }

    /// Below a readable folder, after every symbolic link; or on the way to one.
    fn is_readable(&self, path: &Path) -> bool {
        let readable = &self.image.world.readable;
        let Ok(real) = path.canonicalize() else { return false };
        readable.iter().any(|folder| real.starts_with(folder) || folder.starts_with(path))
    }

    fn real_kind(&mut self, state: &mut State, call: &Call) -> Step<Option<Next>> {
        let path = self.real_path(state, call).filter(|path| self.is_readable(path));
        let kind = match path.and_then(|path| path.metadata().ok()) {
            Some(metadata) if metadata.is_file() => 0,
            Some(metadata) if metadata.is_dir() => 1,
            _ => -1,
        };
        self.give_long(state, call, kind)
    }

    /// A file's bytes, or the names in a folder, each with its terminator.
    fn real_bytes(&mut self, state: &State, call: &Call) -> Option<Vec<u8>> {
        let path = self.real_path(state, call).filter(|path| self.is_readable(path))?;
        if !path.is_dir() {
            return std::fs::read(path).ok();
        }
        let mut names: Vec<Vec<u8>> =
            std::fs::read_dir(path).ok()?.flatten().map(|entry| entry.file_name().into_vec()).collect();
        names.sort();
        Some(names.into_iter().flat_map(|name| name.into_iter().chain([0])).collect())
    }

    fn real_size(&mut self, state: &mut State, call: &Call) -> Step<Option<Next>> {
        let size = self.real_bytes(state, call).map_or(-1, |bytes| bytes.len() as i64);
        self.give_long(state, call, size)
    }

    fn real_read(&mut self, state: &mut State, call: &Call) -> Step<Option<Next>> {
        let room = self.arg(state, call, 2).bits as usize;
        let Some(mut bytes) = self.real_bytes(state, call) else { return self.give_long(state, call, -1) };
        bytes.truncate(room);
        let out = self.arg(state, call, 1);
        self.write_out(state, out, &bytes)?;
        self.give_long(state, call, bytes.len() as i64)
    }
}
