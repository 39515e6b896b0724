//! What a program declares about itself: inputs, assumptions, assertions.

use std::sync::Arc;

use ir::{BaseKind, Call, FuncId, SourceType, SourceTypeId};
use term::TermId;
use witness::{BugKind, Ending, Field, FieldKind, Layout, LedgerKind, RETURNED};

use super::{Stub, done};
use crate::access::{Byte, Offset};
use crate::inputs::{self, Word};
use crate::run::{Machine, Next, Step};
use crate::{
    Access, Answer, Decides, Effect, InputKind, InputRecord, InputRequest, Label, Object, ObjectId, ObjectKind,
    PickWhy, Scalar, Shadow, State, StringKind, Tail, Use, Value,
};

pub const STUBS: &[(&str, Stub)] = &[
    ("colt_input", |machine, state, call, _| machine.declare_input(state, call)),
    ("colt_string", |machine, state, call, _| machine.declare_string(state, call)),
    ("__colt_data", |machine, state, call, _| machine.declare_data(state, call)),
    ("colt_string_in", |machine, state, call, _| machine.declare_string_in(state, call)),
    ("klee_make_symbolic", |machine, state, call, _| machine.declare_input(state, call)),
    ("colt_assume", |machine, state, call, _| machine.assume_arg(state, call)),
    ("klee_assume", |machine, state, call, _| machine.assume_arg(state, call)),
    ("__VERIFIER_assume", |machine, state, call, _| machine.assume_arg(state, call)),
    ("__colt_suppose", |machine, state, call, _| {
        state.is_supposing = machine.arg(state, call, 0).bits != 0;
        done()
    }),
    ("__colt_returned", |machine, state, call, _| machine.note_returned(state, call)),
    ("colt_assert", |machine, state, call, _| {
        machine.assert_arg(state, call, "the asserted condition does not hold".to_string())
    }),
    ("__colt_keeps", |machine, state, call, _| {
        let what = machine.text_arg(state, call, 1);
        machine.assert_arg(state, call, what)
    }),
    ("klee_prefer_cex", |_, _, _, _| done()),
    ("klee_posix_prefer_cex", |_, _, _, _| done()),
    ("klee_range", |machine, state, call, _| machine.ranged(state, call)),
    ("colt_range", |machine, state, call, _| machine.ranged(state, call)),
    ("klee_int", |machine, state, call, _| machine.scalar_input(state, call, "int")),
    ("colt_bool", |machine, state, call, _| machine.boolean(state, call)),
    ("colt_char", |machine, state, call, _| machine.scalar_input(state, call, "char")),
    ("colt_schar", |machine, state, call, _| machine.scalar_input(state, call, "signed char")),
    ("colt_uchar", |machine, state, call, _| machine.scalar_input(state, call, "unsigned char")),
    ("colt_short", |machine, state, call, _| machine.scalar_input(state, call, "short")),
    ("colt_ushort", |machine, state, call, _| machine.scalar_input(state, call, "unsigned short")),
    ("colt_int", |machine, state, call, _| machine.scalar_input(state, call, "int")),
    ("colt_uint", |machine, state, call, _| machine.scalar_input(state, call, "unsigned int")),
    ("colt_long", |machine, state, call, _| machine.scalar_input(state, call, "long")),
    ("colt_ulong", |machine, state, call, _| machine.scalar_input(state, call, "unsigned long")),
    ("colt_int8", |machine, state, call, _| machine.scalar_input(state, call, "int8_t")),
    ("colt_uint8", |machine, state, call, _| machine.scalar_input(state, call, "uint8_t")),
    ("colt_int16", |machine, state, call, _| machine.scalar_input(state, call, "int16_t")),
    ("colt_uint16", |machine, state, call, _| machine.scalar_input(state, call, "uint16_t")),
    ("colt_int32", |machine, state, call, _| machine.scalar_input(state, call, "int32_t")),
    ("colt_uint32", |machine, state, call, _| machine.scalar_input(state, call, "uint32_t")),
    ("colt_int64", |machine, state, call, _| machine.scalar_input(state, call, "int64_t")),
    ("colt_uint64", |machine, state, call, _| machine.scalar_input(state, call, "uint64_t")),
    ("colt_size", |machine, state, call, _| machine.scalar_input(state, call, "size_t")),
    ("colt_float", |machine, state, call, _| machine.scalar_input(state, call, "float")),
    ("colt_double", |machine, state, call, _| machine.scalar_input(state, call, "double")),
    ("klee_is_symbolic", |machine, state, call, _| {
        let value = machine.arg(state, call, 0);
        let symbolic = value.term().is_some() || !value.label().is_empty();
        machine.give(state, call, Value::concrete(u128::from(symbolic)));
        done()
    }),
    ("klee_get_valuef", |machine, state, call, _| machine.one_value(state, call)),
    ("klee_get_valued", |machine, state, call, _| machine.one_value(state, call)),
    ("klee_get_valuel", |machine, state, call, _| machine.one_value(state, call)),
    ("klee_get_valuell", |machine, state, call, _| machine.one_value(state, call)),
    ("klee_get_value_i32", |machine, state, call, _| machine.one_value(state, call)),
    ("klee_get_value_i64", |machine, state, call, _| machine.one_value(state, call)),
];

/// `__VERIFIER_nondet_T` for any T: the call says how wide the result is.
pub fn find_nondet(name: &str) -> Option<Stub> {
    name.starts_with(NONDET).then_some(|machine, state, call, func| machine.nondet(state, call, func))
}

const NONDET: &str = "__VERIFIER_nondet_";

const BOOL: &str = "_Bool";

/// C spelling of the types that `__VERIFIER_nondet_` names in short.
const NONDET_TYPES: &[(&str, &str)] = &[
    ("bool", BOOL),
    ("char", "char"),
    ("uchar", "unsigned char"),
    ("short", "short"),
    ("ushort", "unsigned short"),
    ("int", "int"),
    ("uint", "unsigned int"),
    ("unsigned", "unsigned int"),
    ("unsigned_int", "unsigned int"),
    ("long", "long"),
    ("ulong", "unsigned long"),
    ("longlong", "long long"),
    ("ulonglong", "unsigned long long"),
    ("size_t", "size_t"),
    ("float", "float"),
    ("double", "double"),
    ("u8", "uint8_t"),
    ("u16", "uint16_t"),
    ("u32", "uint32_t"),
    ("u64", "uint64_t"),
    ("int128", "__int128"),
    ("uint128", "unsigned __int128"),
    ("pointer", "void *"),
];

/// How tests call what points to a string of its own.
const STRING: &str = "string";

/// Bytes of a string where nobody makes it longer, its zero included.
const PLAIN_STRING: u64 = 16;

/// An input with a zero behind it.
fn with_zero(record: &InputRecord) -> Arc<InputRecord> {
    let zero = Scalar { offset: record.n_bytes, n_bytes: 1, term: None, value: 0, label: Label::EMPTY, number: 0 };
    let scalars = record.scalars.iter().cloned().chain([zero]).collect();
    Arc::new(InputRecord { n_bytes: record.n_bytes + 1, scalars, ..record.clone() })
}

impl Machine<'_> {
    fn assert_arg(&mut self, state: &mut State, call: &Call, what: String) -> Step<Option<Next>> {
        let holds = self.truth_of_arg(state, call, 0);
        let label = self.arg(state, call, 0).label();
        self.depend(state, label, Decides::Assertion);
        self.uses(state, holds, Use::Decision)?;
        self.check(state, holds, |machine| machine.bug(state, BugKind::AssertionFailure, what))?;
        done()
    }

    /// (name, type, kind, bytes, value): what the entry gave back, kept with the inputs it was given.
    fn note_returned(&mut self, state: &mut State, call: &Call) -> Step<Option<Next>> {
        let (name, type_name) = (self.text_arg(state, call, 0).into(), self.text_arg(state, call, 1).into());
        let kind = match u8::try_from(self.arg(state, call, 2).bits).unwrap_or(0) {
            b'p' => FieldKind::Pointer,
            b'f' => FieldKind::Float,
            b's' => FieldKind::Signed,
            _ => FieldKind::Unsigned,
        };
        let (bytes, value) = (self.arg(state, call, 3).bits as u64, self.arg(state, call, 4));
        let field = Field { path: RETURNED.into(), offset: 0, n_bytes: bytes, kind };
        let scalar = Scalar {
            offset: 0,
            n_bytes: bytes as u8,
            term: value.term(),
            value: value.bits as u64,
            label: Label::EMPTY,
            number: 0,
        };
        state.inputs.push_back(Arc::new(InputRecord {
            name,
            type_name,
            n_bytes: bytes,
            origin: 0,
            scalars: Box::new([scalar]),
            size: None,
            tail: None,
            layout: Some(Layout { at: None, fields: Arc::new([field]) }),
        }));
        done()
    }

    /// The bytes at a place become an input.
    fn declare_input(&mut self, state: &mut State, call: &Call) -> Step<Option<Next>> {
        let (addr, size) = (self.arg(state, call, 0), self.arg(state, call, 1));
        let bytes = self.pick(state, size, PickWhy::Size)? as u64;
        let name: Arc<str> = self.text_arg(state, call, 2).into();
        if bytes == 0 {
            state.inputs.push_back(Arc::new(InputRecord {
                name,
                type_name: "bytes".into(),
                n_bytes: 0,
                origin: 0,
                scalars: Box::new([]),
                size: None,
                tail: None,
                layout: None,
            }));
            let whereabouts = self.labels.union(addr.label(), size.label());
            self.scatter_nothing(state, whereabouts);
            return done();
        }
        let whereabouts = self.labels.union(addr.label(), size.label());
        let addr = Value::concrete(self.pick(state, addr, PickWhy::Address)?);
        let (object, offset) = self.locate(state, addr, bytes, Access::Write)?;
        let Offset::At(at) = offset else { unreachable!("the address was picked") };
        let ty = state.memory.get(object).ty.filter(|ty| at == 0 && self.image.module.size_of(*ty) == Some(bytes));
        let type_name: Arc<str> = ty.map_or("bytes".to_string(), |ty| self.image.module.spell(Some(ty))).into();
        let request = self.input_request(state, name, type_name, ty, bytes);
        let record = self.plan_input(state, &request)?;
        if self.enter_text(state, &record)? {
            self.place_tail(state, object, at, &record);
        } else {
            let image = self.record_bytes(&record);
            self.write_bytes(state, object, offset, &image);
        }
        self.scatter(state, object, at, bytes, whereabouts);
        state.inputs.push_back(record);
        done()
    }

    /// A string of its own: `char *colt_string(const char *name)`.
    fn declare_string(&mut self, state: &mut State, call: &Call) -> Step<Option<Next>> {
        let name: Arc<str> = self.text_arg(state, call, 0).into();
        let mut request = self.input_request(state, name, STRING.into(), None, PLAIN_STRING - 1);
        request.string = Some(StringKind::Own);
        let record = self.plan_input(state, &request)?;
        let is_text = self.enter_text(state, &record)?;
        let size = record.tail.as_ref().map_or(record.n_bytes, |tail| tail.most) + 1;
        let site = self.image.user_site(state);
        let object = state.memory.allocate_heap(size, 16, |base| {
            let mut object = Object::zeroed(base, size, ObjectKind::Global);
            object.site = site;
            object
        });
        self.name_object(state, object, Label::EMPTY);
        self.trace_allocation(state, object);
        let record = match &record.tail {
            Some(tail) if is_text => {
                let one = self.terms.constant(1, 64);
                let extent = self.terms.add(tail.end, one);
                state.memory.get_mut(object).extent = Some(extent);
                let pile = tail.layers(&mut self.terms, &record.scalars);
                self.lay_at(state, object, 0, pile, size);
                Arc::clone(&record)
            }
            _ => {
                self.constrain_string(state, &record)?;
                if record.scalars.iter().any(|scalar| scalar.term.is_some()) {
                    self.note(state, LedgerKind::BoundedInput, "strings are up to 15 bytes long");
                }
                let record = with_zero(&record);
                let image = self.record_bytes(&record);
                self.write_bytes(state, object, Offset::At(0), &image);
                record
            }
        };
        state.inputs.push_back(record);
        let base = state.memory.get(object).base;
        self.give(state, call, Value::concrete(u128::from(base)));
        done()
    }

    /// What a fuzzer hands over: `void *__colt_data(const char *name, size_t most, size_t *size)`.
    fn declare_data(&mut self, state: &mut State, call: &Call) -> Step<Option<Next>> {
        let name: Arc<str> = self.text_arg(state, call, 0).into();
        let (most, size) = (self.arg(state, call, 1).bits as u64, self.arg(state, call, 2));
        let mut request = self.input_request(state, name, "bytes".into(), None, most);
        request.string = Some(StringKind::Data);
        let record = self.plan_input(state, &request)?;
        self.enter_text(state, &record)?;
        let end = match &record.tail {
            Some(tail) => Value::of_term(&self.terms, tail.end, Label::EMPTY),
            None => Value::concrete(u128::from(record.n_bytes)),
        };
        self.store(state, size, self.image.pointer_bits(), end)?;
        let n_bytes = record.n_bytes.max(1);
        let site = self.image.user_site(state);
        let object = state.memory.allocate_heap(n_bytes, 16, |base| {
            let mut object = Object::zeroed(base, n_bytes, ObjectKind::Global);
            object.site = site;
            object
        });
        self.name_object(state, object, Label::EMPTY);
        self.trace_allocation(state, object);
        if let Some(tail) = &record.tail {
            state.memory.get_mut(object).extent = Some(tail.end);
            let pile = tail.layers(&mut self.terms, &record.scalars);
            self.lay_at(state, object, 0, pile, n_bytes);
        } else {
            let image = self.record_bytes(&record);
            self.write_bytes(state, object, Offset::At(0), &image);
        }
        state.inputs.push_back(record);
        let base = state.memory.get(object).base;
        self.give(state, call, Value::concrete(u128::from(base)));
        done()
    }

    /// A string at the beginning of a buffer: `void colt_string_in(char *buffer, size_t size, const char *name)`.
    fn declare_string_in(&mut self, state: &mut State, call: &Call) -> Step<Option<Next>> {
        let (addr, size) = (self.arg(state, call, 0), self.arg(state, call, 1));
        let bytes = self.pick(state, size, PickWhy::Size)? as u64;
        let name: Arc<str> = self.text_arg(state, call, 2).into();
        let addr = Value::concrete(self.pick(state, addr, PickWhy::Address)?);
        let (object, offset) = self.locate(state, addr, bytes.max(1), Access::Write)?;
        let Offset::At(at) = offset else { unreachable!("the address was picked") };
        let type_name: Arc<str> = format!("char[{bytes}]").into();
        let mut request = self.input_request(state, name, type_name, None, bytes.max(1) - 1);
        request.string = Some(StringKind::Within);
        let planned = self.plan_input(state, &request)?;
        let record = match planned.tail {
            Some(_) => {
                self.enter_text(state, &planned)?;
                let record = Arc::new(InputRecord { n_bytes: bytes, ..(*planned).clone() });
                self.place_tail(state, object, at, &record);
                record
            }
            None => {
                self.constrain_string(state, &planned)?;
                let record = with_zero(&planned);
                let image = self.record_bytes(&record);
                self.write_bytes(state, object, offset, &image);
                record
            }
        };
        state.inputs.push_back(record);
        done()
    }

    /// Behind the first zero of a string whose bytes are all symbols are zeros only.
    fn constrain_string(&mut self, state: &State, record: &InputRecord) -> Step<()> {
        let zero = self.terms.byte_constant(0);
        let bytes: Vec<TermId> = record.scalars.iter().filter_map(|scalar| scalar.term).collect();
        let mut holds = self.terms.tru();
        for pair in bytes.windows(2) {
            let (is_over, stays_over) = (self.terms.eq(pair[0], zero), self.terms.eq(pair[1], zero));
            let follows = self.terms.implies(is_over, stays_over);
            holds = self.terms.and(holds, follows);
        }
        self.constrain(state, holds)
    }

    /// What is true of a text by its nature, and what is known about its symbols; whether it is one.
    pub(crate) fn enter_text(&mut self, state: &State, record: &InputRecord) -> Step<bool> {
        let Some(tail) = &record.tail else { return Ok(false) };
        self.know_text(tail);
        let mut holds = self.terms.tru();
        for condition in tail.conditions.iter() {
            holds = self.terms.and(holds, *condition);
        }
        self.constrain(state, holds)?;
        Ok(true)
    }

    pub(crate) fn know_text(&mut self, tail: &Tail) {
        self.spans.fillers.extend(tail.fillers.iter().copied());
        for symbol in self.terms.symbols(tail.end).to_vec() {
            self.spans.positions.bound(symbol, tail.most);
        }
    }

    /// Puts a text into memory.
    pub(crate) fn place_tail(&mut self, state: &mut State, object: ObjectId, at: u64, record: &InputRecord) {
        let Some(tail) = &record.tail else { return };
        let pile = tail.layers(&mut self.terms, &record.scalars);
        self.lay_at(state, object, at, pile, record.n_bytes);
    }

    pub(super) fn input_request(
        &self,
        state: &State,
        name: Arc<str>,
        type_name: Arc<str>,
        ty: Option<SourceTypeId>,
        bytes: u64,
    ) -> InputRequest {
        let scalars = inputs::divide(&self.image.module, ty, bytes).into();
        InputRequest {
            name,
            type_name,
            ty,
            bytes,
            scalars,
            origin: self.index_here(state),
            range: None,
            kind: InputKind::Declared,
            string: None,
        }
    }

    /// Asks what an input looks like and makes its symbols; the state does not have it yet.
    pub(crate) fn plan_input(&mut self, state: &State, request: &InputRequest) -> Step<Arc<InputRecord>> {
        let answer = self.ask(state, || Effect::Input(Box::new(request.clone())))?;
        let Answer::Input(form) = answer else { unreachable!("an input is answered with its form") };
        let occurrence = state.inputs.n_named(&request.name) + state.n_inputs_unseen as usize;
        Ok(Arc::new(inputs::create(&mut self.terms, &mut self.labels, request, occurrence, &form)))
    }

    /// As [`Machine::plan_input`] for one number of up to 16 bytes.
    pub(super) fn plan_scalar(&mut self, state: &State, request: &InputRequest) -> Step<Arc<InputRecord>> {
        let ty = self.word_type(request.bytes);
        let kind = if &*request.type_name == BOOL { Word::Bool } else { Word::Number };
        let scalars = inputs::word(request.bytes, kind).into();
        self.plan_input(state, &InputRequest { ty, scalars, ..request.clone() })
    }

    /// Some integer type of that size, so that the number is one symbol rather than several bytes.
    fn word_type(&self, bytes: u64) -> Option<SourceTypeId> {
        let is_word = |ty: &SourceType| matches!(ty, SourceType::Base { bytes: size, kind, .. } if *size == bytes && *kind != BaseKind::Bool);
        self.image.module.types.iter().position(is_word).map(SourceTypeId::new)
    }

    pub(crate) fn record_bytes(&mut self, record: &InputRecord) -> Vec<Byte> {
        let mut image = vec![Byte { bits: 0, shadow: Shadow::NONE, is_written: true }; record.n_bytes as usize];
        for scalar in &record.scalars {
            let value = match scalar.term {
                Some(term) => Value::of_term(&self.terms, term, scalar.label),
                None => Value { bits: u128::from(scalar.value), shadow: Shadow::new(None, scalar.label) },
            };
            let bytes = self.decompose(value, scalar.n_bytes * 8, Label::EMPTY);
            image[scalar.offset as usize..][..bytes.len()].copy_from_slice(&bytes);
        }
        image
    }

    /// The whole input as one term, and its label.
    pub(super) fn record_term(&mut self, record: &InputRecord) -> (TermId, Label) {
        let bytes = self.record_bytes(record);
        let terms: Vec<TermId> = bytes.iter().map(|byte| self.byte_term(*byte)).collect();
        let label = bytes.iter().fold(Label::EMPTY, |label, byte| self.labels.union(label, byte.shadow.label()));
        (self.terms.concat_bytes(&terms), label)
    }

    fn scalar_input(&mut self, state: &mut State, call: &Call, type_name: &'static str) -> Step<Option<Next>> {
        let name = self.text_arg(state, call, 0);
        self.scalar_result(state, call, &name, type_name)
    }

    fn scalar_result(&mut self, state: &mut State, call: &Call, name: &str, type_name: &str) -> Step<Option<Next>> {
        let Some((_, bits)) = call.results.first() else { return done() };
        let bytes = u64::from(*bits).div_ceil(8);
        let request = self.input_request(state, name.into(), type_name.into(), None, bytes);
        let record = self.plan_scalar(state, &request)?;
        let (term, label) = self.record_term(&record);
        let value = Value::of_term(&self.terms, term, label);
        state.inputs.push_back(record);
        self.give(state, call, value);
        done()
    }

    fn boolean(&mut self, state: &mut State, call: &Call) -> Step<Option<Next>> {
        let name = self.text_arg(state, call, 0);
        self.bounded(state, call, &name, (0, 2), Label::EMPTY)
    }

    fn ranged(&mut self, state: &mut State, call: &Call) -> Step<Option<Next>> {
        let (low, high) = (self.arg(state, call, 0), self.arg(state, call, 1));
        let bounds = self.labels.union(low.label(), high.label());
        let low = self.pick(state, low, PickWhy::Argument)? as u32 as i32;
        let high = self.pick(state, high, PickWhy::Argument)? as u32 as i32;
        let name = self.text_arg(state, call, 2);
        self.bounded(state, call, &name, (low, high), bounds)
    }

    /// An int with `low <= value < high`, where the bounds depend on `bounds`.
    fn bounded(
        &mut self,
        state: &mut State,
        call: &Call,
        name: &str,
        (low, high): (i32, i32),
        bounds: Label,
    ) -> Step<Option<Next>> {
        let mut request = self.input_request(state, name.into(), "int".into(), None, 4);
        request.range = Some((i64::from(low), i64::from(high)));
        let record = self.plan_scalar(state, &request)?;
        let (term, label) = self.record_term(&record);
        let label = self.labels.union(label, bounds);
        let low = self.terms.constant(u128::from(low as u32), 32);
        let high = self.terms.constant(u128::from(high as u32), 32);
        let (above, below) = (self.terms.sle(low, term), self.terms.slt(term, high));
        let inside = self.terms.and(above, below);
        self.depend(state, label, Decides::Assumption);
        self.constrain(state, inside)?;
        let value = Value::of_term(&self.terms, term, label);
        state.inputs.push_back(record);
        self.give(state, call, value);
        done()
    }

    fn nondet(&mut self, state: &mut State, call: &Call, func: FuncId) -> Step<Option<Next>> {
        let name = self.function_name(func);
        let short = &name[NONDET.len()..];
        let type_name = NONDET_TYPES.iter().find(|row| row.0 == short).map_or(short, |row| row.1);
        self.scalar_result(state, call, name, type_name)
    }

    pub(super) fn truth_of_arg(&mut self, state: &State, call: &Call, idx: usize) -> TermId {
        let bits = call.args.get(idx).map_or(32, |arg| arg.bits);
        let value = self.arg(state, call, idx).to_term(&mut self.terms, u32::from(bits));
        let zero = self.terms.constant(0, u32::from(bits));
        self.terms.ne(value, zero)
    }

    fn assume_arg(&mut self, state: &mut State, call: &Call) -> Step<Option<Next>> {
        let holds = self.truth_of_arg(state, call, 0);
        let label = self.arg(state, call, 0).label();
        self.depend(state, label, Decides::Assumption);
        self.assume(state, holds)?;
        done()
    }

    pub(super) fn assume(&mut self, state: &State, cond: TermId) -> Step<()> {
        match self.terms.as_const(cond) {
            Some(0) => Err(Effect::Ended(Box::new(Ending::Assumed))),
            Some(_) => Ok(()),
            None => {
                self.uses(state, cond, Use::Decision)?;
                self.ask(state, || Effect::Assume { cond }).map(|_| ())
            }
        }
    }

    /// What is true of a new input by its nature; ends the path where nothing is left of it.
    pub(super) fn constrain(&mut self, state: &State, cond: TermId) -> Step<()> {
        match self.terms.as_const(cond) {
            Some(0) => Err(Effect::Ended(Box::new(Ending::Assumed))),
            Some(_) => Ok(()),
            None => self.ask(state, || Effect::Constrain { cond }).map(|_| ()),
        }
    }

    fn one_value(&mut self, state: &mut State, call: &Call) -> Step<Option<Next>> {
        let value = self.arg(state, call, 0);
        let label = value.label();
        let value = self.pick(state, value, PickWhy::Argument)?;
        self.give(state, call, Value { bits: value, shadow: Shadow::new(None, label) });
        done()
    }
}
