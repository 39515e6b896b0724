//! Concrete values of the inputs of one path.

use std::sync::Arc;

/// How the names of inputs begin that are memory nobody wrote: `unwritten:buf@parse+4`, `unwritten:malloc#3@parse:12+0`.
pub const UNWRITTEN: &str = "unwritten:";

/// What stands for the path of the only field of what the entry gave back: nothing in C is designated so.
pub const RETURNED: &str = "()";

/// Begins the names under which native runs are given what the program does not ask for by name.
const APART: char = '\u{1}';

/// One input in the order the program asked for it.
///
/// Several inputs may share a name (a loop that asks again); order tells them apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputValue {
    pub name: Arc<str>,
    /// C spelling of the declared type where known (`int`, `char[16]`), else `bytes`.
    pub ty: Arc<str>,
    /// Little-endian memory image.
    pub bytes: Vec<u8>,
    /// Absent where nothing points to it and nothing in it points anywhere.
    pub layout: Option<Layout>,
}

/// How an input with pointers in it divides, and where it lies if it is an object that pointers may point to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Layout {
    /// Its address on the path. Pointers of the same test mean it by that; a native run puts it elsewhere and corrects them.
    pub at: Option<u64>,
    pub fields: Arc<[Field]>,
}

/// A scalar of an input.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Field {
    /// As C designates it: `.next`, `.slots[2]`; empty for the whole.
    pub path: Box<str>,
    pub offset: u64,
    pub n_bytes: u64,
    pub kind: FieldKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FieldKind {
    Signed,
    Unsigned,
    Char,
    Float,
    Pointer,
}

impl FieldKind {
    pub const ALL: [FieldKind; 5] =
        [FieldKind::Signed, FieldKind::Unsigned, FieldKind::Char, FieldKind::Float, FieldKind::Pointer];

    pub fn name(self) -> &'static str {
        match self {
            FieldKind::Signed => "signed",
            FieldKind::Unsigned => "unsigned",
            FieldKind::Char => "char",
            FieldKind::Float => "float",
            FieldKind::Pointer => "pointer",
        }
    }

    pub fn from_name(name: &str) -> Option<FieldKind> {
        FieldKind::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

impl InputValue {
    pub fn new(name: impl Into<Arc<str>>, ty: impl Into<Arc<str>>, bytes: Vec<u8>) -> InputValue {
        InputValue { name: name.into(), ty: ty.into(), bytes, layout: None }
    }

    /// Where it lies, for an object that pointers may point to.
    pub fn address(&self) -> Option<u64> {
        self.layout.as_ref()?.at
    }

    /// The number at an offset, little-endian; what is not there counts as zero.
    pub fn word(&self, offset: u64, n_bytes: u64) -> u64 {
        let bytes = self.bytes.iter().skip(offset as usize).take(n_bytes.min(8) as usize);
        bytes.rev().fold(0, |word, byte| word << 8 | u64::from(*byte))
    }
}

impl InputValue {
    /// Whether the program never asked for it: it read memory that nobody wrote.
    pub fn is_unwritten(&self) -> bool {
        self.name.starts_with(UNWRITTEN)
    }

    /// Whether it is no input at all but what the entry gave back for the others.
    pub fn is_returned(&self) -> bool {
        let field = self.layout.as_ref().and_then(|layout| layout.fields.first());
        field.is_some_and(|field| &*field.path == RETURNED)
    }

    /// The name under which a native run gets it. Objects that pointers point to go by their address, those of the program by
    /// their own name, too; the runtime puts them elsewhere and corrects the pointers.
    pub fn native_name(&self) -> String {
        match self.address() {
            Some(at) if matches!(&*self.ty, "function" | "variable") => format!("{APART}@{at:x}={}", self.name),
            Some(at) => format!("{APART}@{at:x}"),
            None if self.is_returned() => format!("{APART}{RETURNED}"),
            None => self.name.to_string(),
        }
    }
}
