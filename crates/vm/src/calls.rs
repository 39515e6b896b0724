//! Calls and returns: arguments, variadic areas, structures by value, indirect calls, intrinsics.

use ir::{Arg, Call, Callee, FuncId, Intrinsic, Reg};
use term::TermId;
use witness::{BugKind, Ending, LedgerKind};

use crate::access::Offset;
use crate::frame::Slot;
use crate::image::Binding;
use crate::leaks::End;
use crate::run::{Machine, Next, Step};
use crate::value::mask128;
use crate::{
    Access, Answer, Effect, Event, Frame, INPUTS, InputForm, InputRequest, Interest, Label, Liveness, PickWhy, Region,
    Returns, Shadow, Site, Sizes, State, Use, Value,
};

/// Functions of the C library that fetch an argument before they know whether there is one.
const FETCH_BLINDLY: &[&str] = &["fcntl", "ioctl", "open", "openat", "prctl", "syscall"];

/// A function of programs that are linked with a whole C library.
const WORLD_START: &str = "__world_start";

/// What to do about something in the program that the machine does not have.
fn advice(what: &str) -> &'static str {
    if what.starts_with("inline assembly") {
        return "many programs have a switch for plain C (configure --disable-asm or --disable-assembly, -DNO_ASM); otherwise replace it by C code";
    }
    "leave it out or replace it by C code"
}

impl Machine<'_> {
    pub(crate) fn call(&mut self, state: &mut State, call: &Call) -> Step<Next> {
        let mut pointer = Label::EMPTY;
        let func = match &call.callee {
            Callee::Function(func) => *func,
            Callee::Indirect(reg) => {
                pointer = state.top.value(*reg, self.image.pointer_bits()).label();
                self.called_function(state, *reg)?
            }
            Callee::Intrinsic(intrinsic) => return self.intrinsic(state, *intrinsic, call),
            Callee::Gap(what) => {
                return Err(self.gap(state, format!("{what} cannot be executed; {}", advice(what))));
            }
        };
        if self.claimed[func.idx()] {
            match self.ask(state, || Effect::Call { func })? {
                Answer::Enter => {}
                Answer::Skip(results) => return self.skip(state, call, &results),
                other => unreachable!("a call is answered with enter or skip, not {other:?}"),
            }
        }
        match self.image.bindings[func.idx()] {
            Binding::Body if call.result_used => self.enter(state, func, call, pointer),
            Binding::Body => self.enter(state, self.image.lighter(func), call, pointer),
            Binding::Stub(stub) => {
                let next = stub(self, state, call, func)?;
                Ok(next.unwrap_or(Next::Inst))
            }
            Binding::StubThenBody(stub) => match stub(self, state, call, func)? {
                Some(next) => Ok(next),
                None if call.result_used => self.enter(state, func, call, pointer),
                None => self.enter(state, self.image.lighter(func), call, pointer),
            },
            Binding::Missing => {
                let name = self.function_name(func);
                let libc = match self.image.module.find_function(WORLD_START) {
                    Some(_) => "",
                    None => "use --libc if it belongs to the C library, ",
                };
                Err(self.gap(
                    state,
                    format!("`{name}` has no body and no model; {libc}give colt the file that defines it, or define `{name}` in a file of your own"),
                ))
            }
        }
    }

    fn called_function(&mut self, state: &State, reg: Reg) -> Step<FuncId> {
        let pointer = state.top.value(reg, self.image.pointer_bits());
        let addr = self.pick(state, pointer, PickWhy::FunctionPointer)? as u64;
        self.image.function_at(addr).ok_or_else(|| {
            let (kind, message) = match addr {
                0..4096 => (BugKind::NullDereference, "call through a null pointer".to_string()),
                _ => (BugKind::InvalidPointer, format!("call of {addr:#x}, where no function is")),
            };
            Effect::Ended(Box::new(Ending::Bug(self.bug(state, kind, message))))
        })
    }

    fn skip(&mut self, state: &mut State, call: &Call, results: &[TermId]) -> Step<Next> {
        for ((reg, bits), term) in call.results.iter().zip(results) {
            let value = Value::of_term(&self.terms, *term, Label::EMPTY);
            state.top.set(*reg, *bits, value);
        }
        Ok(Next::Inst)
    }

    /// A new frame for `func` with the call's arguments.
    fn enter(&mut self, state: &mut State, func: FuncId, call: &Call, pointer: Label) -> Step<Next> {
        let copies = self.by_value_copies(state, &call.args)?;
        self.grow_stack(state)?;
        let stack_mark = state.memory.n_stack_objects();
        let mut args: Vec<(Value, u8)> = Vec::with_capacity(call.args.len());
        let mut copies = copies.into_iter();
        for arg in &call.args {
            let value = match arg.byval {
                None => state.top.value(arg.reg, arg.bits),
                Some(byval) => {
                    let bytes = copies.next().unwrap_or_default();
                    let base = self.new_stack_object(state, byval.bytes, byval.align, None, None, Site::default());
                    let object = state.memory.find(base).expect("just allocated");
                    self.write_bytes(state, object, Offset::At(0), &bytes);
                    Value::concrete(u128::from(base))
                }
            };
            args.push((value, arg.bits));
        }
        let function = self.image.module.function(func);
        let variadic = if function.variadic { self.variadic_area(state, function, call, &args) } else { 0 };
        let mut regs = self.blank_regs(func);
        for (param, (value, _)) in function.params.iter().zip(&args) {
            regs[param.reg.idx()] = Slot { bits: value.bits as u64, shadow: value.shadow };
            if param.bits > 64 {
                regs[param.reg.idx() + 1].bits = (value.bits >> 64) as u64;
            }
        }
        let (track, control) = self.callee_track(state, pointer);
        let frame = Frame { stack_mark, variadic, control, track, ..Frame::new(func, regs, Returns::ToCall) };
        self.push(state, frame);
        self.sync_control(state);
        Ok(Next::Frame)
    }

    fn push(&mut self, state: &mut State, frame: Frame) {
        let func = frame.func;
        state.push_frame(frame);
        self.cover_entry(func);
        self.tell(state, Interest::CALL, || Event::Call { func });
    }

    fn by_value_copies(&mut self, state: &mut State, args: &[Arg]) -> Step<Vec<Vec<crate::access::Byte>>> {
        let mut copies = Vec::new();
        for arg in args {
            let Some(byval) = arg.byval else { continue };
            let addr = state.top.value(arg.reg, arg.bits);
            let (object, offset) = self.locate(state, addr, byval.bytes, Access::Read)?;
            let mut bytes = self.read_bytes(state, object, offset, byval.bytes);
            self.label_bytes(&mut bytes, addr.label());
            copies.push(bytes);
        }
        Ok(copies)
    }

    /// Variadic arguments in memory, each in its own slots, as the stack part of the calling convention has them.
    fn variadic_area(&mut self, state: &mut State, function: &ir::Function, call: &Call, args: &[(Value, u8)]) -> u64 {
        let n_params = function.params.len();
        let fetches_blindly = function.is_runtime && FETCH_BLINDLY.contains(&function.name.as_str());
        let n_fixed = n_params.min(args.len());
        let word = u64::from(self.image.module.target.pointer_bytes);
        let mut offsets = Vec::new();
        let mut size = 0u64;
        for (arg, (_, bits)) in call.args.iter().zip(args).skip(n_fixed) {
            let (bytes, align) = match arg.byval {
                Some(byval) => (byval.bytes, u64::from(byval.align)),
                None => (slot_bytes(*bits, arg.float, word), if *bits > 64 && word == 8 { 16 } else { word }),
            };
            size = size.next_multiple_of(align.max(word));
            offsets.push(size);
            size += bytes.next_multiple_of(word);
        }
        if fetches_blindly {
            size += 4 * word;
        }
        let base = self.new_stack_object(state, size, 16, None, None, Site::default());
        let area = state.memory.find(base).expect("just allocated");
        if fetches_blindly {
            self.writable(state, area, 0, size).fill_plain(0, size, 0);
        }
        for ((arg, (value, bits)), offset) in call.args.iter().zip(args).skip(n_fixed).zip(offsets) {
            let bytes = match arg.byval {
                None => self.decompose(*value, *bits, Label::EMPTY),
                Some(byval) => {
                    let copy = state.memory.find(value.bits as u64).expect("the copy just made");
                    self.read_bytes(state, copy, Offset::At(0), byval.bytes)
                }
            };
            self.write_bytes(state, area, Offset::At(offset), &bytes);
        }
        base
    }

    /// Returns from the top frame.
    pub(crate) fn leave(&mut self, state: &mut State, values: &[Reg]) -> Step<()> {
        self.forget_last();
        let (func, returns) = (state.top.func, state.top.returns);
        let function = self.image.module.function(func);
        if state.callers.is_none() {
            return self.leave_program(state, values);
        }
        let mut results: Vec<Value> =
            values.iter().zip(&function.results).map(|(reg, slot)| state.top.value(*reg, slot.bits)).collect();
        if self.is_tracking() {
            let label = self.close_frame(state);
            for value in &mut results {
                let label = self.labels.union(value.label(), label);
                value.shadow = Shadow::new(value.term(), label);
            }
        }
        self.drop_frame_objects(state);
        state.pop_frame();
        self.sync_control(state);
        state.stack_bytes = state.stack_bytes.saturating_sub(Machine::FRAME_BYTES);
        self.tell(state, Interest::CALL, || Event::Return { func });
        if returns == Returns::InPlace {
            return Ok(());
        }
        let caller = self.image.module.function(state.top.func);
        let inst = caller.block(state.top.block).insts.get(state.top.inst_idx as usize);
        if let Some(ir::Inst::Call { call }) = inst {
            for ((reg, bits), value) in caller.calls[call.idx()].results.iter().zip(results) {
                let value = self.fit(value, *bits);
                state.top.set(*reg, *bits, value);
            }
            state.top.inst_idx += 1;
        }
        Ok(())
    }

    /// A result as wide as the call site expects (they differ where C calls through the wrong type).
    pub(crate) fn fit(&mut self, value: Value, bits: u8) -> Value {
        match value.term() {
            None => Value { bits: value.bits & mask128(bits), shadow: value.shadow },
            Some(term) => {
                let width = self.terms.width(term);
                let term = match width.cmp(&u32::from(bits)) {
                    std::cmp::Ordering::Less => self.terms.zext(term, u32::from(bits)),
                    std::cmp::Ordering::Equal => term,
                    std::cmp::Ordering::Greater => self.terms.extract(term, u32::from(bits) - 1, 0),
                };
                Value::of_term(&self.terms, term, value.label())
            }
        }
    }

    pub(crate) fn drop_frame_objects(&mut self, state: &mut State) {
        self.drop_stack_objects(state, state.top.stack_mark);
    }

    /// Ends the lives of the running thread's objects from number `mark` on. Those that other threads' may lie behind
    /// are marked as dead, the others are removed.
    fn drop_stack_objects(&mut self, state: &mut State, mark: u32) {
        if state.memory.n_stack_objects() <= mark {
            return;
        }
        let (floor, thread) = (state.stack_floor(), state.thread().0 as u16);
        let mut dropped = 0;
        for idx in mark..state.memory.n_stack_objects() {
            let id = crate::ObjectId { region: Region::Stack, idx };
            let object = state.memory.get(id);
            if object.liveness == Liveness::Freed || object.thread != thread {
                continue;
            }
            dropped += object.size;
            if idx < floor {
                state.memory.get_mut(id).free();
            }
        }
        state.stack_bytes = state.stack_bytes.saturating_sub(dropped);
        let mark = mark.max(floor);
        self.forget_names(state, mark);
        state.memory.truncate_stack(mark);
        self.tlb.flush();
    }

    /// The entry function returned: handlers of `atexit` run first, then the path ends.
    fn leave_program(&mut self, state: &mut State, values: &[Reg]) -> Step<()> {
        let function = self.image.module.function(state.top.func);
        let status = match (values.first(), function.results.first()) {
            (Some(reg), Some(slot)) => state.top.value(*reg, slot.bits),
            _ => Value::concrete(0),
        };
        if let Some(handlers) = self.image.exit_handlers.filter(|_| !state.is_exiting) {
            let mut regs = self.blank_regs(handlers);
            regs[0] = Slot { bits: status.bits as u64, shadow: status.shadow };
            let stack_mark = state.memory.n_stack_objects();
            state.is_exiting = true;
            let (track, control) = self.callee_track(state, Label::EMPTY);
            self.push(state, Frame { stack_mark, track, control, ..Frame::new(handlers, regs, Returns::InPlace) });
            return Ok(());
        }
        let status = self.status(state, status)?;
        self.check_leaks(state, End::Returned)?;
        Err(Effect::Ended(Box::new(Ending::Returned { status })))
    }

    pub(crate) fn blank_regs(&self, func: FuncId) -> Box<[Slot]> {
        vec![Slot::default(); self.image.module.function(func).n_slots as usize].into_boxed_slice()
    }

    /// Leaves the top frame without returning from it.
    pub(crate) fn abandon_frame(&mut self, state: &mut State) {
        self.drop_frame_objects(state);
        state.pop_frame();
        state.stack_bytes = state.stack_bytes.saturating_sub(Machine::FRAME_BYTES);
    }

    /// A state at the beginning of the program: constructors first, then the entry with `argc`, `argv`, `envp`.
    /// Symbolic arguments of these many bytes before their terminator follow the program's name and the given ones.
    /// `form_of` says what standard input and the arguments look like.
    pub fn start(&mut self, arg_lens: &[u32], form_of: &mut dyn FnMut(&InputRequest) -> InputForm) -> State {
        let entry = self.image.entry;
        let regs = self.blank_regs(entry);
        let mut state = State::new(self.image.initial_memory(), Frame::new(entry, regs, Returns::ToCall));
        state.output = self.image.world.record_output.then(Default::default);
        state.top.track = self.root_track();
        if self.spans.sizes == Sizes::Terms {
            state.facts.keep();
        }
        self.declare_world(&mut state, arg_lens, form_of);
        state.top.stack_mark = state.memory.n_stack_objects();
        self.cover_entry(entry);
        for constructor in self.image.constructors.iter().rev() {
            let regs = self.blank_regs(*constructor);
            let stack_mark = state.memory.n_stack_objects();
            let track = self.root_track();
            self.push(&mut state, Frame { stack_mark, track, ..Frame::new(*constructor, regs, Returns::InPlace) });
        }
        state
    }

    /// A process's exit status; one value when it is symbolic, because nothing in the program depends on it any more.
    pub(crate) fn status(&mut self, state: &State, value: Value) -> Step<i32> {
        match value.term() {
            None => Ok((value.bits & 0xff) as i32),
            Some(term) => {
                self.uses(state, term, Use::Output)?;
                match self.ask(state, || Effect::Pick { value: term, why: PickWhy::Status })? {
                    Answer::Value(value) => Ok((value & 0xff) as i32),
                    other => unreachable!("a pick is answered with a value, not {other:?}"),
                }
            }
        }
    }

    fn intrinsic(&mut self, state: &mut State, intrinsic: Intrinsic, call: &Call) -> Step<Next> {
        let pointer_bits = self.image.pointer_bits();
        match intrinsic {
            Intrinsic::MemCpy | Intrinsic::MemMove => {
                let (dst, src, len) = (self.arg(state, call, 0), self.arg(state, call, 1), self.arg(state, call, 2));
                match intrinsic {
                    Intrinsic::MemCpy => self.copy_apart(state, dst, src, len)?,
                    _ => self.copy(state, dst, src, len)?,
                }
            }
            Intrinsic::Fault => {
                let handler = self.arg(state, call, 0).bits;
                return Err(self.clang_fault(state, handler));
            }
            Intrinsic::PointerStep => {
                let (before, after) = (self.arg(state, call, 0), self.arg(state, call, 1));
                self.check_step(state, before, after)?;
            }
            Intrinsic::AddressOrder => {
                let (a, b) = (self.arg(state, call, 0), self.arg(state, call, 1));
                let is_given = |addr: Value| addr.term().is_some() || INPUTS.contains(&(addr.bits as u64));
                if is_given(a) || is_given(b) {
                    let bits = u32::from(pointer_bits);
                    let (a, b) = (a.to_term(&mut self.terms, bits), b.to_term(&mut self.terms, bits));
                    self.ask(state, || Effect::AddressOrder { a, b })?;
                }
            }
            // Only for those who ask how a pointer is followed.
            Intrinsic::FollowedAs => {}
            Intrinsic::MemSet => {
                let (dst, byte, len) = (self.arg(state, call, 0), self.arg(state, call, 1), self.arg(state, call, 2));
                self.fill(state, dst, byte, len)?;
            }
            Intrinsic::VaStart => self.va_start(state, call)?,
            Intrinsic::VaEnd => {}
            Intrinsic::VaCopy => {
                let bytes = if pointer_bits == 64 { 24 } else { 4 };
                let (dst, src) = (self.arg(state, call, 0), self.arg(state, call, 1));
                self.copy(state, dst, src, Value::concrete(bytes))?;
            }
            Intrinsic::StackSave => {
                let mark = Value::concrete(u128::from(state.memory.n_stack_objects()));
                self.give(state, call, mark);
            }
            Intrinsic::StackRestore => {
                let mark = self.arg(state, call, 0).bits as u32;
                if mark >= state.top.stack_mark {
                    self.drop_stack_objects(state, mark);
                }
            }
            Intrinsic::Trap => {
                let bug = self.bug(state, BugKind::Abort, "the program traps".to_string());
                return Err(Effect::Ended(Box::new(Ending::Bug(bug))));
            }
            Intrinsic::ObjectSize => {
                let (_, bits) = call.results[0];
                self.give(state, call, Value::concrete(mask128(bits)));
            }
            Intrinsic::SetJump => {
                self.set_jump(state, call)?;
            }
            Intrinsic::LongJump => return Ok(self.long_jump(state, call)?.unwrap_or(Next::Inst)),
            Intrinsic::TimeStamp => self.time_stamp(state, call)?,
            Intrinsic::ThreadLocal => {
                let variable = self.arg(state, call, 0).bits as u64;
                let here = self.thread_local(state, variable);
                self.give(state, call, Value::concrete(u128::from(here)));
            }
            Intrinsic::FrameAddress | Intrinsic::ReturnAddress => {
                let base = self.image.layout.stack + u64::from(state.depth) * 16;
                self.give(state, call, Value::concrete(u128::from(base)));
            }
            Intrinsic::Begin => {
                let (variable, bytes) = (self.arg(state, call, 0), self.arg(state, call, 1));
                self.begin_variable(state, variable.bits as u64, bytes.bits as u64);
            }
            Intrinsic::Revive => {
                let variable = self.arg(state, call, 0);
                self.revive_variable(state, variable.bits as u64);
            }
            Intrinsic::End => {
                let (variable, bytes) = (self.arg(state, call, 0), self.arg(state, call, 1));
                self.end_variable(state, variable.bits as u64, bytes.bits as u64);
            }
            Intrinsic::Folded => {
                let what = "clang computed this from constants by an operation without a result, such as a shift by too many bits; it is taken for 0";
                self.note(state, LedgerKind::UnmodelledBehaviour, what);
            }
            Intrinsic::CpuId => {
                let what = "the processor is taken for one without extensions; code for others is not explored";
                self.note(state, LedgerKind::UnmodelledBehaviour, what);
                for (reg, bits) in &call.results {
                    state.top.set(*reg, *bits, Value::concrete(0));
                }
            }
        }
        Ok(Next::Inst)
    }

    /// On x86-64 a `va_list` that says all registers are used up sends every `va_arg` to the area in memory.
    fn va_start(&mut self, state: &mut State, call: &Call) -> Step<()> {
        let list = self.arg(state, call, 0);
        let area = Value::concrete(u128::from(state.top.variadic));
        if self.image.pointer_bits() == 32 {
            return self.store(state, list, 32, area);
        }
        let (object, offset) = self.locate(state, list, 24, Access::Write)?;
        let header = self.decompose(Value::concrete(48 | 176 << 32), 64, Label::EMPTY);
        let area_bytes = self.decompose(area, 64, Label::EMPTY);
        let bytes: Vec<_> = header.iter().chain(&area_bytes).chain(&area_bytes).copied().collect();
        self.write_bytes(state, object, offset, &bytes);
        Ok(())
    }

    pub(crate) fn arg(&self, state: &State, call: &Call, idx: usize) -> Value {
        call.args.get(idx).map_or(Value::concrete(0), |arg| state.top.value(arg.reg, arg.bits))
    }

    /// Sets the call's (first) result.
    pub(crate) fn give(&mut self, state: &mut State, call: &Call, value: Value) {
        if let Some((reg, bits)) = call.results.first() {
            let value = self.fit(value, *bits);
            state.top.set(*reg, *bits, value);
        }
    }
}

/// Bytes an argument takes in the variadic area before rounding up to slots.
fn slot_bytes(bits: u8, float: Option<ir::FloatKind>, word: u64) -> u64 {
    match float {
        Some(ir::FloatKind::Extended) if word == 8 => 16,
        Some(ir::FloatKind::Extended) => 12,
        _ => u64::from(bits).div_ceil(8),
    }
}
