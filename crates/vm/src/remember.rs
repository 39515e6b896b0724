//! Which accesses go the fast way next time.

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
        match how {
            Remember::Read => {
                let found = state.memory.get(object);
                self.tlb.remember_read(site, found.base, found.data());
                let size = found.size;
                self.remember_flags(site, object, size);
            }
            Remember::Write => {
                let found = self.writable(state, object);
                let base = found.base;
                let data: *mut [u8] = found.data_mut();
                // SAFETY: the object is plain, alive and now unshared; the borrow ends with this call.
                self.tlb.remember_write(site, base, unsafe { &mut *data });
                let size = state.memory.get(object).size;
                self.remember_flags(site, object, size);
            }
        }
    }

    fn remember_flags(&mut self, site: usize, object: ObjectId, size: u64) {
        if let Some(trace) = self.watching.trace_mut() {
            self.tlb.remember_flags(site, trace.footprint.flags(object, size));
        }
    }
}
