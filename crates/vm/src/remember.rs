//! Which accesses go the fast way next time.

use std::ops::Range;

use crate::run::Machine;
use crate::{Interest, ObjectId, State, Value};

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Remember {
    Read,
    Write,
}

impl Machine<'_> {
    /// Lets the fast path have an object that an access just went to.
    pub(crate) fn remember(&mut self, state: &mut State, site: usize, addr: Value, how: Remember) {
        // Writing through an entry would leave the open regions untold.
        if how == Remember::Write && self.tlb.is_frozen() {
            return;
        }
        if self.watching.interest().has(Interest::READ.with(Interest::WRITE)) || addr.term().is_some() {
            return;
        }
        let Some(object) = self.running.located else { return };
        if !state.memory.get(object).is_plain() || !state.memory.get(object).life.is_empty() {
            return;
        }
        let found = state.memory.get(object);
        let Some(offset) = (addr.bits as u64).checked_sub(found.base).filter(|offset| *offset < found.size) else {
            return;
        };
        if found.miss() {
            state.memory.get_mut(object).join();
            self.tlb.flush();
        }
        // Beyond what is written the first write has to be seen.
        let around = state.memory.get(object).written_around(offset);
        match how {
            Remember::Read => {
                let found = state.memory.get(object);
                let (start, bytes) = found.plain_around(offset);
                let (start, bytes) = (start.max(around.start), &bytes[within(&around, start, bytes.len())]);
                self.tlb.remember_read(site, found.base + start, bytes);
                let size = found.size;
                self.remember_flags(site, object, size, start);
            }
            // Whoever knows the contents has to be told of every write.
            Remember::Write if state.memory.get(object).is_known() => {}
            Remember::Write => {
                let found = self.writable(state, object, offset, 1);
                let (base, size) = (found.base, found.size);
                let (start, bytes) = found.plain_around_mut(offset);
                let part = within(&around, start, bytes.len());
                let (start, bytes) = (start.max(around.start), &raw mut bytes[part]);
                // SAFETY: the object is plain, alive and its bytes here are now unshared; the borrow ends with this call.
                self.tlb.remember_write(site, base + start, unsafe { &mut *bytes });
                self.remember_flags(site, object, size, start);
            }
        }
    }

    /// Of the bytes from `start` on.
    fn remember_flags(&mut self, site: usize, object: ObjectId, size: u64, start: u64) {
        if let Some(trace) = self.watching.trace_mut() {
            self.tlb.remember_flags(site, &mut trace.footprint.flags(object, size)[start as usize..]);
        }
    }
}

/// The part of `len` bytes from the offset `start` on that lies in a range, which it meets.
fn within(range: &Range<u64>, start: u64, len: usize) -> Range<usize> {
    let end = (range.end - start).min(len as u64);
    range.start.saturating_sub(start) as usize..end as usize
}
