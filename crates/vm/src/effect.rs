//! What the machine asks, and what it is answered.

use std::rc::Rc;
use std::sync::Arc;

use ir::{FuncId, SourceTypeId};
use term::TermId;
use witness::{Bug, Ending, Layout};

use crate::{Judgement, Scalar, ScalarShape};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Access {
    Read,
    Write,
}

/// Why one concrete value is needed where a term is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PickWhy {
    /// Size of an allocation or a copy.
    Size,
    FunctionPointer,
    JumpTarget,
    /// A function of floats that is computed from one value: a sine, a power.
    Float,
    /// What the process leaves behind; nothing depends on it any more, so any one value will do.
    Status,
    /// An argument of a stub that works on concrete values only.
    Argument,
    /// The address given to `free` and its relatives.
    Address,
    /// A number of bytes or the like that the machine itself offers as a choice from 0 to a maximum.
    Choice,
}

/// An input the program declares.
#[derive(Clone, Debug)]
pub struct InputRequest {
    pub name: Arc<str>,
    pub type_name: Arc<str>,
    pub ty: Option<SourceTypeId>,
    pub bytes: u64,
    /// How it divides into scalars.
    pub scalars: Rc<[ScalarShape]>,
    /// Its name across runs, while flow is tracked.
    pub origin: u64,
    /// Lowest value and the one above the highest, for a number in a range.
    pub range: Option<(i64, i64)>,
    pub kind: InputKind,
    /// Where it is a string by what the program says.
    pub string: Option<StringKind>,
}

/// A string that the program asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StringKind {
    /// In memory of its own, as large as it needs.
    Own,
    /// At the beginning of a buffer.
    Within,
    /// No string, but bytes in memory of their own, as large as they need, and how many of them there are.
    Data,
}

/// Where an input comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputKind {
    /// The program declares it, or the world gives it.
    Declared,
    /// Memory that nobody wrote. Always a symbol: what depends on it is a fault.
    Unwritten,
}

/// What an input looks like: the answer to [`Effect::Input`].
#[derive(Clone, Debug)]
pub enum InputForm {
    /// Every scalar of the declared type is a symbol.
    Symbolic,
    /// The same, and how many of its bytes there are is a symbol as well. Only for streams of bytes; whoever says this also says
    /// what that symbol may be, before anything depends on it.
    UpTo,
    /// Scalars whose number is in the set are symbols, the others have these concrete values.
    Mixed(Rc<[Option<u64>]>),
    /// The same, and every scalar, symbol or not, is labelled as the input of a number.
    Labelled(Rc<[LabelledScalar]>),
    /// A text: some symbols, something that repeats behind them, and an end that is a symbol.
    Text(TextForm),
    /// Made of these scalars. The conditions say what the symbols in them may be; all of them zero satisfies them.
    Given {
        scalars: Rc<[Scalar]>,
        conditions: Rc<[TermId]>,
        /// How it divides, where that is to be seen in tests.
        layout: Option<Layout>,
    },
}

/// An input that is a text. The number of its bytes is the request's, unless it says how many there are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextForm {
    /// Bytes in front that are symbols of their own.
    pub prefix: u64,
    /// Most bytes there are.
    pub most: u64,
    /// How many bytes repeat behind the prefix: 1 or 2.
    pub n_repeated: u64,
    /// Bytes of their own somewhere behind the prefix.
    pub n_marks: u64,
    pub kind: TextKind,
    /// What all of it is but how long: no byte is a symbol then.
    pub pattern: Option<Rc<Pattern>>,
}

/// A text whose bytes are known: only how often what stands in its middle repeats is a symbol, zero for as often as there is room.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    pub before: Box<[u8]>,
    pub repeat: Box<[u8]>,
    pub after: Box<[u8]>,
}

/// How a text ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextKind {
    /// No byte of it is zero, and zeros follow.
    String,
    /// Bytes of a buffer: the prefix may be anything, behind it comes no zero up to some place, and behind that anything.
    Buffer,
    /// Bytes of a stream, which ends.
    Stream,
}

/// One scalar of an input that flow is tracked from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LabelledScalar {
    pub freedom: Freedom,
    /// The value it has, or for a symbol the one to begin with.
    pub value: u64,
    pub number: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Freedom {
    Fixed,
    Symbol,
}

/// The state stands at the instruction that asks.
#[derive(Clone, Debug)]
pub enum Effect {
    /// Answer `Side`.
    Branch {
        cond: TermId,
    },
    /// Answer `Edge`: the edge of that number, under its condition. Edges to one target are one alternative, under its
    /// first number. The conditions exclude each other and cover all.
    Switch {
        conds: Rc<[(u32, TermId)]>,
    },
    /// Answer `Object`: the base of the object the address points into. `bytes` from it on are accessed.
    Address {
        addr: TermId,
        bytes: u64,
        access: Access,
    },
    /// No answer: the machine asks again. A concrete address among the inputs has nothing there that is large enough: unless
    /// whoever makes them makes more of what is there, it is `bug`. Without an access, an object is to begin there.
    Beyond {
        addr: u64,
        access: Option<(Access, u64)>,
        bug: Box<Bug>,
    },
    /// Answer `Value`.
    Pick {
        value: TermId,
        why: PickWhy,
    },
    /// Choose a number from 0 to `max`; nothing depends on it yet. Answer `Value`.
    Choose {
        max: u64,
    },
    /// Answer `Proceed`, with `holds` added to the path condition; the inputs that violate it show `bug`.
    Check {
        holds: TermId,
        bug: Box<Bug>,
    },
    /// Answer `Proceed`, with `cond` added; inputs that violate it end the path as `Assumed`.
    Assume {
        cond: TermId,
    },
    /// Answer `Proceed`, with `cond` added: what a new input is by its nature. No input violates it.
    Constrain {
        cond: TermId,
    },
    /// Answer `Judged`: something that matters mentions memory that nobody wrote.
    Unwritten {
        value: TermId,
        judgement: Judgement,
    },
    /// Answer `Proceed`: the program makes something of how two addresses lie to each other, or of `a` as a number where `b` is
    /// null.
    AddressOrder {
        a: TermId,
        b: TermId,
    },
    /// Answer `Input`.
    Input(Box<InputRequest>),
    /// A call somebody claimed. Answer `Enter` or `Skip`.
    Call {
        func: FuncId,
    },
    Ended(Box<Ending>),
    /// The state stands between two instructions: its fuel is used up, or it came where it was to pause.
    OutOfFuel,
    /// The state stands where a stop was asked for: at the beginning of a block, or behind a call.
    Arrived,
}

#[derive(Clone, Debug)]
pub enum Answer {
    Side(bool),
    Edge(u32),
    Object(u64),
    /// The address is this one on every input of the path.
    At(u64),
    Value(u128),
    Proceed,
    Judged,
    Input(InputForm),
    Enter,
    /// Leave the call out; its results are these terms.
    Skip(Rc<[TermId]>),
}
