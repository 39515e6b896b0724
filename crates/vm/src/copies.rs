//! Copying and filling ranges, a known number of bytes at a time or one that is a term.

use term::TermId;
use witness::LedgerKind;

use crate::access::{Byte, Offset};
use crate::memory::INPUTS;
use crate::run::{Machine, Step};
use crate::{Access, Interest, Label, ObjectId, PickWhy, Shadow, Sizes, State, Use, Value};

impl Machine<'_> {
    /// As [`Machine::copy`] between ranges that must not overlap; what lies outside of its object is told first.
    pub(crate) fn copy_apart(&mut self, state: &mut State, dst: Value, src: Value, len: Value) -> Step<()> {
        if !self.image.checks.overlap {
            return self.copy(state, dst, src, len);
        }
        if len.term().is_some() && self.is_span(state, src, len) {
            let object = |at: Value| state.memory.find(at.bits as u64).filter(|_| at.term().is_none());
            if object(src).is_none() || object(src) == object(dst) {
                let detail = "whether these bytes overlap, as many as an input says, was not looked at";
                self.note(state, LedgerKind::UnmodelledBehaviour, detail);
            }
            return self.copy(state, dst, src, len);
        }
        let n_bytes = self.pick_length(state, len, &[(src, Access::Read), (dst, Access::Write)])?;
        if n_bytes > 0 {
            self.locate(state, src, n_bytes, Access::Read)?;
            self.locate(state, dst, n_bytes, Access::Write)?;
            self.check_overlap(state, dst, src, n_bytes)?;
        }
        self.copy(state, dst, src, Value { bits: u128::from(n_bytes), shadow: Shadow::new(None, len.label()) })
    }

    pub(crate) fn copy(&mut self, state: &mut State, dst: Value, src: Value, len: Value) -> Step<()> {
        if self.is_span(state, src, len) {
            return self.copy_span(state, dst, src, len);
        }
        let labels = self.labels.union(dst.label(), len.label());
        let len = self.pick_length(state, len, &[(src, Access::Read), (dst, Access::Write)])?;
        if len == 0 {
            self.scatter_nothing(state, labels);
            return Ok(());
        }
        let (from, from_offset) = self.locate(state, src, len, Access::Read)?;
        let (to, to_offset) = self.locate(state, dst, len, Access::Write)?;
        if let (Offset::At(from_at), Offset::At(to_at)) = (from_offset, to_offset)
            && from != to
            && state.memory.get(from).is_plain()
            && state.memory.get(to).is_plain()
            && !self.watching.interest().has(Interest::READ.with(Interest::WRITE))
            && !self.is_tracking()
        {
            let size = state.memory.get(from).size;
            self.trace_read(from, size, from_offset, len);
            self.trace_write(state, to, to_at, len);
            let source = state.memory.get(from).clone();
            let target = self.writable(state, to, to_at, len);
            let mut at = from_at;
            while at < from_at + len {
                let (start, bytes) = source.plain_around(at);
                let end = (start + bytes.len() as u64).min(from_at + len);
                target.write_plain(to_at + at - from_at, &bytes[(at - start) as usize..(end - start) as usize]);
                at = end;
            }
            let unwritten = source.unwritten_in(from_at..from_at + len);
            let range = target.base + to_at..target.base + to_at + len;
            for run in &unwritten {
                target.unwrite(to_at + (run.start - from_at)..to_at + (run.end - from_at));
            }
            if !unwritten.is_empty() {
                self.tlb.forget(range);
            }
            return Ok(());
        }
        // What a copy does not leave as it is has to have a value first.
        let is_moved_whole = matches!((from_offset, to_offset), (Offset::At(_), Offset::At(_)));
        if !is_moved_whole || state.memory.get(to).is_array() {
            self.settle_unwritten(state, from, from_offset, len)?;
        }
        if let Offset::Symbolic(_) = to_offset {
            self.settle_unwritten(state, to, to_offset, len)?;
        }
        let mut bytes = self.read_bytes(state, from, from_offset, len);
        let whence = self.labels.union(labels, src.label());
        self.label_bytes(&mut bytes, whence);
        self.write_bytes(state, to, to_offset, &bytes);
        self.scatter_over(state, to, to_offset, len, labels);
        Ok(())
    }

    pub(crate) fn fill(&mut self, state: &mut State, dst: Value, byte: Value, len: Value) -> Step<()> {
        if len.term().is_some() && self.spans.sizes == Sizes::Terms {
            return self.fill_span(state, dst, byte, len);
        }
        let labels = self.labels.union(dst.label(), len.label());
        let len = self.pick_length(state, len, &[(dst, Access::Write)])?;
        if len == 0 {
            self.scatter_nothing(state, labels);
            return Ok(());
        }
        let (to, offset) = self.locate(state, dst, len, Access::Write)?;
        if let (Offset::At(at), None) = (offset, byte.term())
            && state.memory.get(to).is_plain()
            && byte.label().is_empty()
            && !self.watching.interest().has(Interest::WRITE)
            && !self.is_tracking()
        {
            self.trace_write(state, to, at, len);
            self.writable(state, to, at, len).fill_plain(at, len, byte.bits as u8);
            return Ok(());
        }
        if let Offset::Symbolic(_) = offset {
            self.settle_unwritten(state, to, offset, len)?;
        }
        let byte = self.fit(byte, 8);
        let one = self.decompose(byte, 8, Label::EMPTY)[0];
        let mut bytes = vec![one; len as usize];
        self.label_bytes(&mut bytes, labels);
        self.write_bytes(state, to, offset, &bytes);
        self.scatter_over(state, to, offset, len, labels);
        Ok(())
    }

    /// How many bytes these ranges have, one number. Whether they may be longer than there is room is asked before, because not
    /// every number is tried.
    fn pick_length(&mut self, state: &State, len: Value, ranges: &[(Value, Access)]) -> Step<u64> {
        if let Some(term) = len.term() {
            self.uses(state, term, Use::Size)?;
            for (start, access) in ranges {
                self.check_room(state, *start, term, *access)?;
            }
        }
        Ok(self.pick(state, len, PickWhy::Size)? as u64)
    }

    fn check_room(&mut self, state: &State, start: Value, len: TermId, access: Access) -> Step<()> {
        let addr = start.bits as u64;
        let object = state.memory.find(addr).map(|object| state.memory.get(object));
        // What lies among the inputs may turn out to be larger, and what has an extent ends somewhere else.
        let is_known = start.term().is_none() && !INPUTS.contains(&addr);
        let Some(object) =
            object.filter(|object| is_known && object.extent.is_none() && object.allows(addr, 1, access))
        else {
            return Ok(());
        };
        let room = object.end() - addr;
        let most = self.terms.constant(u128::from(room), self.terms.width(len));
        let fits = self.terms.ule(len, most);
        self.check(state, fits, |machine| {
            let (kind, message) = machine.diagnose(state, addr, room + 1, access);
            let exact = format!("of {} bytes", room + 1);
            machine.bug(state, kind, message.replacen(&exact, &format!("of more than {room} bytes"), 1))
        })
    }

    pub(crate) fn label_bytes(&mut self, bytes: &mut [Byte], label: Label) {
        if !label.is_empty() {
            for byte in bytes {
                let label = self.labels.union(byte.shadow.label(), label);
                byte.shadow = Shadow::new(byte.shadow.term(), label);
            }
        }
    }

    fn scatter_over(&mut self, state: &mut State, object: ObjectId, offset: Offset, len: u64, label: Label) {
        match offset {
            Offset::At(at) => self.scatter(state, object, at, len, label),
            Offset::Symbolic(_) => {
                let size = state.memory.get(object).size;
                self.scatter(state, object, 0, size, label);
            }
        }
    }
}
