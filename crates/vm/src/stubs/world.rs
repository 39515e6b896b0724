//! What lies outside the program: output, standard input, time, and the ways to end.

use std::rc::Rc;
use std::sync::Arc;

use ir::Call;
use witness::{Bug, BugKind, Ending, LedgerKind};

use super::{Stub, done};
use crate::access::Offset;
use crate::inputs;
use crate::leaks::End;
use crate::run::{Machine, Next, Step};
use crate::{
    Access, Decides, Effect, InputForm, InputRecord, InputRequest, Label, Object, ObjectKind, PickWhy, Scalar, Shadow,
    Site, State, Value,
};

pub const STUBS: &[(&str, Stub)] = &[
    ("__colt_output", |machine, state, call, _| machine.output(state, call)),
    ("__colt_stdin_byte", |machine, state, call, _| machine.stdin_byte(state, call, AtEnd::Minus)),
    ("__colt_stdin_room", |machine, state, call, _| machine.stdin_byte(state, call, AtEnd::Whatever)),
    ("__colt_is_open", |machine, state, call, _| {
        let is_open = machine.arg(state, call, 0).term().is_some();
        machine.give(state, call, Value::concrete(u128::from(is_open)));
        done()
    }),
    ("__colt_stream", |machine, state, call, _| machine.stream(state, call)),
    ("__colt_length", |machine, state, call, _| machine.length(state, call)),
    ("time", |machine, state, call, _| machine.clock_input(state, call, "time")),
    ("clock", |machine, state, call, _| machine.clock_input(state, call, "clock")),
    ("__colt_exit", |machine, state, call, _| machine.exit(state, call)),
    ("_exit", |machine, state, call, _| machine.exit(state, call)),
    ("_Exit", |machine, state, call, _| machine.exit(state, call)),
    ("klee_silent_exit", |machine, state, call, _| machine.exit(state, call)),
    ("abort", |machine, state, _, _| {
        // Where an abort is no finding itself, it is an end like others.
        if !machine.image.checks.assertion {
            machine.check_leaks(state, End::Stopped)?;
        }
        Err(machine.ends_in(state, BugKind::Abort, "abort() is called".to_string()))
    }),
    ("klee_abort", |machine, state, _, _| {
        Err(machine.ends_in(state, BugKind::Abort, "klee_abort() is called".to_string()))
    }),
    ("__colt_assert_fail", |machine, state, call, _| {
        let text = machine.text_arg(state, call, 0);
        Err(machine.ends_in(state, BugKind::AssertionFailure, format!("assertion `{text}` fails")))
    }),
    ("__assert_fail", |machine, state, call, _| {
        let text = machine.text_arg(state, call, 0);
        Err(machine.ends_in(state, BugKind::AssertionFailure, format!("assertion `{text}` fails")))
    }),
    ("klee_report_error", |machine, state, call, _| {
        let text = machine.text_arg(state, call, 2);
        Err(machine.ends_in(state, BugKind::AssertionFailure, text))
    }),
    ("reach_error", |machine, state, _, _| {
        Err(machine.ends_in(state, BugKind::AssertionFailure, "reach_error() is reached".to_string()))
    }),
    ("__VERIFIER_error", |machine, state, _, _| {
        Err(machine.ends_in(state, BugKind::AssertionFailure, "__VERIFIER_error() is reached".to_string()))
    }),
    ("__colt_gap", |machine, state, call, _| {
        let what = machine.text_arg(state, call, 0);
        Err(machine.gap(state, format!("{what} is not modelled")))
    }),
    ("__colt_note", |machine, state, call, _| {
        let what = machine.text_arg(state, call, 0);
        machine.note(state, LedgerKind::UnmodelledBehaviour, what);
        done()
    }),
    ("__colt_bounded_pointer", |machine, state, call, _| {
        let parameter = machine.text_arg(state, call, 0);
        machine.note(state, LedgerKind::BoundedPointerInput, parameter);
        done()
    }),
    ("__colt_concrete", |machine, state, call, _| {
        let value = machine.arg(state, call, 0);
        let label = value.label();
        let value = machine.pick(state, value, PickWhy::Argument)?;
        machine.give(state, call, Value { bits: value, shadow: Shadow::new(None, label) });
        done()
    }),
    ("__colt_next_size", |machine, state, call, _| {
        let max = machine.arg(state, call, 0).bits as u64;
        match machine.ask(state, || Effect::Choose { max })? {
            crate::Answer::Value(value) => machine.give(state, call, Value::concrete(value)),
            other => unreachable!("a choice is answered with a value, not {other:?}"),
        }
        done()
    }),
    ("klee_warning", |_, _, _, _| done()),
    ("klee_warning_once", |_, _, _, _| done()),
];

/// What is read where standard input may be over.
#[derive(Clone, Copy, PartialEq, Eq)]
enum AtEnd {
    /// -1.
    Minus,
    /// The byte that would be there: somebody else looks how many there are.
    Whatever,
}

impl Machine<'_> {
    /// Standard input and the arguments, as inputs and as memory.
    pub(crate) fn declare_world(
        &mut self,
        state: &mut State,
        arg_lens: &[u32],
        form_of: &mut dyn FnMut(&InputRequest) -> InputForm,
    ) {
        let world = &self.image.world;
        if world.stdin_bytes > 0 {
            let record = self.byte_record(state, "stdin", world.stdin_bytes, 0, form_of);
            state.inputs.push_back(record);
        }
        let mut argv = vec![self.place_text(state, b"program\0")];
        for variable in &world.environment {
            let (name, value) = variable.split_once('=').unwrap_or((variable, ""));
            state.inputs.push_back(fixed_record(&format!("env:{name}"), value.as_bytes()));
        }
        let n_args = world.args.len() + arg_lens.len();
        for number in 1..=n_args {
            let name = format!("argv[{number}]");
            let record = match world.args.get(number - 1) {
                Some(text) => fixed_record(&name, text.as_bytes()),
                None => self.byte_record(state, &name, arg_lens[number - 1 - world.args.len()], 1, form_of),
            };
            let n_bytes = record.tail.as_ref().map_or(record.n_bytes, |tail| tail.most + 1);
            let base = self.new_stack_object(state, n_bytes, 16, None, None, Site::default());
            let object = state.memory.find(base).expect("just allocated");
            if let Some(tail) = &record.tail {
                self.know_text(tail);
                let one = self.terms.constant(1, 64);
                let extent = self.terms.add(tail.end, one);
                let pile = tail.layers(&mut self.terms, &record.scalars);
                state.memory.get_mut(object).extent = Some(extent);
                self.lay_at(state, object, 0, pile, n_bytes);
            } else {
                let bytes = self.record_bytes(&record);
                self.write_bytes(state, object, Offset::At(0), &bytes);
            }
            state.inputs.push_back(record);
            argv.push(base);
        }
        argv.push(0);
        for variable in &world.environment {
            argv.push(self.place_text(state, format!("{variable}\0").as_bytes()));
        }
        argv.push(0);
        let word = self.image.module.target.pointer_bytes as usize;
        let table: Vec<u8> = argv.iter().flat_map(|addr| addr.to_le_bytes()[..word].to_vec()).collect();
        let argv = self.place_text(state, &table);
        let envp = argv + (n_args as u64 + 2) * word as u64;
        let args = [n_args as u64 + 1, argv, envp];
        let params = &self.image.module.function(state.top.func).params;
        for (param, value) in params.iter().zip(args) {
            state.top.set(param.reg, param.bits, Value::concrete(u128::from(value)));
        }
    }

    /// `n` symbolic bytes and `n_zeros` zeros after them.
    fn byte_record(
        &mut self,
        state: &State,
        name: &str,
        n: u32,
        n_zeros: u32,
        form_of: &mut dyn FnMut(&InputRequest) -> InputForm,
    ) -> Arc<InputRecord> {
        let n_bytes = u64::from(n + n_zeros);
        let type_name: Arc<str> = format!("char[{n_bytes}]").into();
        let request = self.input_request(state, name.into(), type_name.clone(), None, u64::from(n));
        let record = inputs::create(&mut self.terms, &mut self.labels, &request, 0, &form_of(&request));
        if let Some(tail) = &record.tail {
            self.know_text(tail);
            return Arc::new(record);
        }
        let scalars = record.scalars.into_iter().chain((n..n + n_zeros).map(|idx| fixed_byte(idx, 0))).collect();
        Arc::new(InputRecord { n_bytes, scalars, type_name, ..record })
    }

    fn place_text(&mut self, state: &mut State, bytes: &[u8]) -> u64 {
        let object = state.memory.allocate_stack(bytes.len() as u64, 16, |base| {
            Object::new(base, bytes.len() as u64, ObjectKind::Stack, bytes.into())
        });
        self.trace_allocation(state, object);
        self.name_object(state, object, Label::EMPTY);
        state.memory.get(object).base
    }

    pub(super) fn ends_in(&self, state: &State, kind: BugKind, message: String) -> Effect {
        let bug: Bug = self.bug(state, kind, message);
        Effect::Ended(Box::new(Ending::Bug(bug)))
    }

    pub(super) fn text_arg(&mut self, state: &State, call: &Call, idx: usize) -> String {
        let text = self.concrete_string(state, self.arg(state, call, idx).bits as u64).unwrap_or_default();
        String::from_utf8_lossy(&text).into_owned()
    }

    fn exit(&mut self, state: &mut State, call: &Call) -> Step<Option<Next>> {
        let status = self.arg(state, call, 0);
        let status = self.status(state, status)?;
        let end = if state.is_exiting { End::Returned } else { End::Stopped };
        self.check_leaks(state, end)?;
        Err(Effect::Ended(Box::new(Ending::Exited { status })))
    }

    fn output(&mut self, state: &mut State, call: &Call) -> Step<Option<Next>> {
        let (fd, addr, count) = (self.arg(state, call, 0), self.arg(state, call, 1), self.arg(state, call, 2));
        if self.is_span(state, addr, count) {
            self.read_span(state, addr, count)?;
            return done();
        }
        let count = self.pick(state, count, PickWhy::Size)? as u64;
        if count == 0 {
            return done();
        }
        let (object, offset) = self.locate(state, addr, count, Access::Read)?;
        self.puts_out(state, object, offset, count)?;
        if state.output.is_some() && fd.bits == 1 {
            let bytes = match offset {
                Offset::At(_) => self.read_bytes(state, object, offset, count),
                Offset::Symbolic(_) => Vec::new(),
            };
            if let Some(output) = &mut state.output {
                Rc::make_mut(output).extend(bytes.iter().map(|byte| byte.bits));
            }
        }
        done()
    }

    /// The bytes of an input that is a text, in memory of its own.
    fn stream(&mut self, state: &mut State, call: &Call) -> Step<Option<Next>> {
        let (name, size) = (self.text_arg(state, call, 0), self.arg(state, call, 1));
        let record = state.inputs.iter().find(|record| *record.name == *name).cloned();
        let text = record.as_ref().and_then(|record| Some((record, record.tail.as_ref()?)));
        let Some((record, tail)) = text else {
            self.give(state, call, Value::concrete(0));
            return done();
        };
        let end = Value::of_term(&self.terms, tail.end, Label::EMPTY);
        self.store(state, size, self.image.pointer_bits(), end)?;
        let most = tail.most.max(1);
        let object = state.memory.allocate_heap(most, 16, |base| Object::zeroed(base, most, ObjectKind::Global));
        state.memory.get_mut(object).extent = Some(tail.end);
        let pile = tail.layers(&mut self.terms, &record.scalars);
        self.lay_at(state, object, 0, pile, most);
        self.trace_allocation(state, object);
        self.name_object(state, object, Label::EMPTY);
        let base = state.memory.get(object).base;
        self.give(state, call, Value::concrete(u128::from(base)));
        done()
    }

    /// How many bytes an input has.
    fn length(&mut self, state: &mut State, call: &Call) -> Step<Option<Next>> {
        let (name, most) = (self.text_arg(state, call, 0), self.arg(state, call, 1));
        let size = state.inputs.iter().find(|record| *record.name == *name).and_then(|record| record.size);
        let value = size.map_or(most, |size| Value::of_term(&self.terms, size, most.label()));
        self.give(state, call, value);
        done()
    }

    fn stdin_byte(&mut self, state: &mut State, call: &Call, at_end: AtEnd) -> Step<Option<Next>> {
        let value = if state.stdin_read < self.image.world.stdin_bytes {
            let record = state.inputs.iter().find(|record| &*record.name == "stdin").cloned();
            let scalar = record.as_ref().and_then(|record| record.scalars.get(state.stdin_read as usize));
            let size = record.as_ref().and_then(|record| record.size).filter(|_| at_end == AtEnd::Minus);
            let at = self.terms.constant(u128::from(state.stdin_read), 64);
            state.stdin_read += 1;
            // How far standard input was read depends on what control depends on.
            let place = self.note_stdin(state);
            match scalar {
                Some(Scalar { term: Some(term), label, .. }) => {
                    let label = self.labels.union(*label, place);
                    let mut term = self.terms.zext(*term, 32);
                    if let Some(size) = size {
                        let is_there = self.terms.ult(at, size);
                        let end = self.terms.constant(u128::from(u32::MAX), 32);
                        term = self.terms.ite(is_there, term, end);
                    }
                    Value::of_term(&self.terms, term, label)
                }
                Some(scalar) => {
                    let label = self.labels.union(scalar.label, place);
                    Value { bits: u128::from(scalar.value), shadow: Shadow::new(None, label) }
                }
                None => Value::concrete(u128::from(u32::MAX)),
            }
        } else {
            let place = self.note_stdin(state);
            Value { bits: u128::from(u32::MAX), shadow: Shadow::new(None, place) }
        };
        self.give(state, call, value);
        done()
    }

    /// What the processor's counter says is any number.
    pub(crate) fn time_stamp(&mut self, state: &mut State, call: &Call) -> Step<()> {
        let request = self.input_request(state, "rdtsc".into(), "unsigned long".into(), None, 8);
        let record = self.plan_scalar(state, &request)?;
        let (term, label) = self.record_term(&record);
        let value = Value::of_term(&self.terms, term, label);
        state.inputs.push_back(record);
        self.give(state, call, value);
        Ok(())
    }

    /// A moment in time is an input that is not negative.
    fn clock_input(&mut self, state: &mut State, call: &Call, name: &'static str) -> Step<Option<Next>> {
        let bits = call.results.first().map_or(64, |result| result.1);
        let bytes = u64::from(bits / 8);
        let mut request = self.input_request(state, name.into(), "long".into(), None, bytes);
        request.range = Some((0, i64::MAX >> (64 - u32::from(bits))));
        let record = self.plan_scalar(state, &request)?;
        let (term, label) = self.record_term(&record);
        let zero = self.terms.constant(0, u32::from(bits));
        let holds = self.terms.sle(zero, term);
        self.depend(state, label, Decides::Assumption);
        self.constrain(state, holds)?;
        let value = Value::of_term(&self.terms, term, label);
        if name == "time" {
            let target = self.arg(state, call, 0);
            if target.term().is_some() || target.bits != 0 {
                self.store(state, target, bits, value)?;
            }
        }
        state.inputs.push_back(record);
        self.give(state, call, value);
        done()
    }
}

/// A text with its terminator that is no choice, but that a replay needs all the same.
fn fixed_record(name: &str, text: &[u8]) -> Arc<InputRecord> {
    let scalars: Box<[Scalar]> =
        text.iter().chain(&[0]).enumerate().map(|(idx, byte)| fixed_byte(idx as u32, *byte)).collect();
    let n_bytes = scalars.len() as u64;
    Arc::new(InputRecord {
        name: name.into(),
        type_name: format!("char[{n_bytes}]").into(),
        n_bytes,
        origin: 0,
        scalars,
        size: None,
        tail: None,
        layout: None,
    })
}

fn fixed_byte(idx: u32, value: u8) -> Scalar {
    Scalar { offset: u64::from(idx), n_bytes: 1, term: None, value: value.into(), label: Label::EMPTY, number: 0 }
}
