//! `shapes`: pointers as inputs, by their types.
//!
//! **Problem.** A function that takes a list, a tree or a hash table can only be tested with one. Listing all heaps up front gives
//! up what symbolic execution is good at; leaving pointers to the solver as plain numbers gives heaps whose objects overlap,
//! and failures that no C program ever shows.
//!
//! **Paper.** Vanoverberghe, Tillmann, Piessens, *Test Input Generation for Programs with Pointers* (TACAS 2009). Types say which
//! pointers may be equal: two objects of one type are the same or apart, and one lies in another only as a member does. The
//! paper hands that to the solver as axioms over addresses, keeps memory as one map for each type, asks first with weak
//! axioms and then with all of them (two phases), and uses alignment.
//!
//! **Idea.** 1. A pointer that is an input is a term: nothing is known of it but its type. 2. The program may compare it, add to it,
//! store it, all without a decision. 3. When it is followed, it means the null pointer, a place of its type in an object that is
//! there, or one new object: the path parts, once for each that is possible. 4. A new object's members are inputs again,
//! pointers among them open. 5. New objects of a type are taken in one order, so that no shape comes up twice.
//!
//! **What we do differently.** Our memory is objects of bytes at real addresses, which is finer than either map of the paper and
//! needs no axioms between maps: a read of a member through any pointer sees the same bytes. The axioms of disjointness are
//! not given to a solver at all. An address is the number of an object above 36 bits for the place in it (`pointers`), each
//! type has numbers of its own (`kinds`), so whatever is not allowed to overlap cannot. What is left for the solver are
//! comparisons of eight bits. And a pointer that was followed is no input any more on its path: it is written back as the
//! address it is, and put as a number into conditions on copies of it (`settled`). So an open pointer is only ever compared
//! with numbers, each question is about one pointer, and what a path costs grows with its nodes, not with their pairs.
//!
//! Three representations can be measured against each other (`--shapes-pointers`): this one, the same with pointers that stay
//! terms, and an address of 64 bits with the same conditions on its bits. The paper asks the solver twice, first with weak
//! axioms, because most of what is impossible is impossible without them. Ours has no axioms to leave out. What answers
//! first are the layers before the solver: a set of 256 values for one symbol, what is known to be fixed, what was asked before.
//! They are exact, so there is no second phase for what they answer; without them (`--solver-without`) everything goes to the
//! solver, which is the paper's single phase. Both are in the table of `docs/techniques/shapes.md`.
//!
//! A part of something larger is found out late: an object is made as what the pointer says it is, and when the program steps out
//! of it, as `container_of` does, or follows a pointer to something that has such a part, the larger object is put around it.
//! The addresses stay what they are, so a second part of the same object must be one when its pointer is followed: to lie
//! beside a part that is there, in something that has both, is a way of its own. Variables of the program whose address is
//! in use lie among the objects from the start, at numbers of their type (`Landmark`). A `void *` points to what the program
//! takes it for where it follows it; the front end leaves a mark there (`uses`).
//!
//! **What it assumes.** Pointers are used as their types say. A pointer is null or points to what its type says, never to freed
//! memory, never one past the end, never with bits set in it for other purposes. A program that steps from a part to the
//! whole was given the whole, and of several such parts that one from which it then reaches whole members. A pointer to
//! characters points into no variable of the program.
//!
//! **What it can miss.** Heaps with more than `--shapes-max` objects of a type, more than a few ways to lie beside something, two
//! links of one object that are in the same list (as of `struct task { struct list_head run, all; }`), and whatever is made of
//! the order or the bits of addresses (`p < q`, `p - q` of two objects, a hash of `p`): all that is in the ledger. The bytes of
//! a pointer read one by one are not noticed. Variables that do not start as zero, or have no pointers in them, are what their
//! initialisers say.
//!
//! **What it costs.** A path for each shape that the program can tell apart. Structures without an invariant have cycles, on which
//! an ordinary loop never ends: name one with `--shapes-valid`, or give `--max-steps`.

mod cells;
mod company;
mod finish;
mod heap;
mod kinds;
mod making;
mod pointers;
mod settled;
mod uses;
mod ways;

use std::rc::Rc;
use std::sync::Arc;

use explore::{
    Asked, Endings, InputForm, InputRequest, Leads, Maker, Meanings, Means, Meant, Path, Report, Seats, Technique,
};
use ir::{FuncId, GlobalId, SourceType, SourceTypeId};
use rustc_hash::FxHashMap;
use term::{TermId, Terms};
use witness::{FieldKind, InputValue, Layout};

use cells::{Cell, Holds, fields};
use heap::{Heap, SLOT, Settled, scalar};
use kinds::{Kinds, Landmark, Origins};
use pointers::{Pointers, Within};
use ways::Listed;

use crate::{Entry, Flag, Flags, Making, Named, Part, Resume, Takes};

pub const NAME: &str = "shapes";

/// How a pointer is written for the solver.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Representation {
    /// The number of an object and a place in it.
    #[default]
    Numbers,
    /// One address of 64 bits.
    Addresses,
    /// As numbers, and a pointer that was followed stays a term.
    Terms,
}

#[derive(Clone, Debug)]
pub struct Config {
    /// Objects of one type.
    pub max_objects: u64,
    /// Arrays and their lengths, by name.
    pub arrays: Vec<(String, String)>,
    pub representation: Representation,
}

impl Default for Config {
    fn default() -> Self {
        Config { max_objects: 8, arrays: Vec::new(), representation: Representation::default() }
    }
}

/// How many elements an array has.
#[derive(Clone, Copy, Debug)]
struct Length {
    term: TermId,
    shown: FieldKind,
}

impl Length {
    fn is(self, terms: &mut Terms, n: u64) -> TermId {
        let n = terms.constant(u128::from(n), terms.width(self.term));
        terms.eq(self.term, n)
    }

    fn is_at_most(self, terms: &mut Terms, n: u64) -> TermId {
        let width = terms.width(self.term);
        let n = terms.constant(u128::from(n) & (u128::MAX >> (128 - width)), width);
        match self.shown {
            FieldKind::Signed => terms.sle(self.term, n),
            _ => terms.ule(self.term, n),
        }
    }
}

pub struct Shapes {
    kinds: Kinds,
    pointers: Pointers,
    /// Functions whose address is taken.
    taken: Vec<FuncId>,
    max_objects: u64,
    arrays: Vec<(String, String)>,
    /// Of pointers that arrays and lengths were named for.
    lengths: FxHashMap<TermId, Length>,
    /// Whole inputs by name: what a length or an array may be.
    named: FxHashMap<String, (TermId, FieldKind)>,
    /// The functions that pointers were made to, by address.
    functions: FxHashMap<u64, FuncId>,
    listed: Option<Listed>,
    /// What is there before anything is followed.
    beginning: Heap,
    subject: (Arc<ir::Module>, FuncId),
    config: Config,
}

impl Shapes {
    pub fn new(config: &Config, module: &Arc<ir::Module>, entry: FuncId) -> Shapes {
        let n_elements = if config.arrays.is_empty() { 1 } else { config.max_objects };
        let (roots, followed) = (roots(module, entry), uses::followed_types(module));
        let variables = variables(module);
        let origins = Origins { roots: &roots, followed: &followed, variables: &variables };
        let kinds = Kinds::new(Arc::clone(module), &origins, config.max_objects, n_elements);
        let made = kinds.landmarks.iter().map(|landmark| kinds.made_of(landmark)).collect();
        let taken = analysis::CallGraph::new(module).address_taken().to_vec();
        Shapes {
            kinds,
            pointers: Pointers::new(config.representation),
            taken,
            max_objects: config.max_objects,
            arrays: config.arrays.clone(),
            lengths: FxHashMap::default(),
            named: FxHashMap::default(),
            functions: FxHashMap::default(),
            listed: None,
            beginning: Heap::of(made),
            subject: (Arc::clone(module), entry),
            config: config.clone(),
        }
    }

    fn heap<'p>(&'p self, path: &'p Path) -> &'p Heap {
        path.state.slots.get::<Heap>(SLOT).unwrap_or(&self.beginning)
    }

    fn heap_mut<'p>(&self, path: &'p mut Path) -> &'p mut Heap {
        if path.state.slots.get::<Heap>(SLOT).is_none() {
            path.state.slots.set(SLOT, self.beginning.clone());
        }
        path.state.slots.get_mut::<Heap>(SLOT)
    }

    /// Where an address leads, once the pointer in it is settled.
    fn lead(&self, path: &Path, addr: TermId, means: &mut Means) -> Option<Leads> {
        let heap = self.heap(path);
        let terms = &mut means.machine.terms;
        match self.pointers.within(terms, addr) {
            // What several are mixed to is for the engine to find out, once each of them has its place.
            Within::Nothing | Within::Several(_) => None,
            Within::One { pointer, beside } => {
                let Settled::At(at) = heap.settled(pointer)? else { return None };
                Some(match terms.as_const(beside) {
                    Some(beside) => Leads::At(at.wrapping_add(beside as u64)),
                    None => Leads::Into(heap.around(at).map(|made| made.base).into_iter().collect()),
                })
            }
        }
    }

    /// An input with pointers in it.
    fn form(&mut self, path: &Path, request: &InputRequest, means: &mut Means) -> Option<InputForm> {
        let ty = request.ty?;
        let cells = self.kinds.cells_of(ty);
        if let Some(form) = self.length_form(request, &cells, means) {
            return Some(form);
        }
        let is_ours = |cell: &Cell| match &cell.holds {
            Holds::Number | Holds::Bool => false,
            Holds::Function(_) => true,
            Holds::Pointer(kind) => !self.kinds.get(*kind).slots.is_empty(),
            Holds::Either(kinds) => kinds.iter().all(|kind| !self.kinds.get(*kind).slots.is_empty()),
        };
        let has_pointers = cells.iter().any(|cell| !matches!(cell.holds, Holds::Number | Holds::Bool));
        let is_known = cells.iter().all(|cell| matches!(cell.holds, Holds::Number | Holds::Bool) || is_ours(cell));
        if !has_pointers || !is_known {
            return None;
        }
        let mut conditions = Vec::new();
        let mut scalars = Vec::new();
        let unique = match path.state.inputs.iter().filter(|input| input.name == request.name).count() {
            0 => request.name.to_string(),
            n_before => format!("{}#{}", request.name, n_before + 1),
        };
        for cell in &cells {
            let term = self.term_of(&unique, cell, None, means.machine, &mut conditions);
            scalars.push(scalar(cell.offset, cell.n_bytes, term));
        }
        self.measure(&cells, &scalars, &mut means.machine.terms, &mut conditions);
        if let [only] = &scalars[..]
            && let Some(term) = only.term
        {
            self.name(request, term, FieldKind::Pointer, &mut means.machine.terms, &mut conditions);
        }
        let layout = Some(Layout { at: None, fields: fields(&cells) });
        Some(InputForm::Given { scalars: Rc::from(scalars), conditions: conditions.into(), layout })
    }

    /// A number that is an input by itself and the length of an array.
    fn length_form(&mut self, request: &InputRequest, cells: &[Cell], means: &mut Means) -> Option<InputForm> {
        let ([Cell { holds: Holds::Number, shown, .. }], [shape]) = (cells, &request.scalars[..]) else { return None };
        if !self.arrays.iter().any(|(_, length)| **length == *request.name) {
            return None;
        }
        let terms = &mut means.machine.terms;
        let term = vm::input_symbol(terms, request, 0, 0, shape);
        let mut conditions = Vec::new();
        self.name(request, term, *shown, terms, &mut conditions);
        let scalars = Rc::new([scalar(shape.offset, shape.n_bytes, term)]);
        Some(InputForm::Given { scalars, conditions: conditions.into(), layout: None })
    }

    /// The second of an array and its length to be named binds both.
    fn name(
        &mut self,
        request: &InputRequest,
        term: TermId,
        shown: FieldKind,
        terms: &mut Terms,
        conditions: &mut Vec<TermId>,
    ) {
        self.named.insert(request.name.to_string(), (term, shown));
        for (array, length) in self.arrays.clone() {
            let is_part = array == *request.name || length == *request.name;
            if let (Some((array, _)), Some((length, shown))) = (self.named.get(&array), self.named.get(&length))
                && is_part
            {
                self.bind(*array, Length { term: *length, shown: *shown }, terms, conditions);
            }
        }
    }

    /// Arrays and lengths that are members of one object.
    fn measure(&mut self, cells: &[Cell], scalars: &[vm::Scalar], terms: &mut Terms, conditions: &mut Vec<TermId>) {
        for (array, length) in self.arrays.clone() {
            let array = format!(".{array}");
            for (cell, scalar) in cells.iter().zip(scalars).filter(|(cell, _)| cell.path.ends_with(&array)) {
                let beside = format!("{}.{length}", &cell.path[..cell.path.len() - array.len()]);
                let Some(at) = cells.iter().position(|other| *other.path == *beside) else { continue };
                if let (Some(pointer), Some(term)) = (scalar.term, scalars[at].term) {
                    self.bind(pointer, Length { term, shown: cells[at].shown }, terms, conditions);
                }
            }
        }
    }

    fn bind(&mut self, pointer: TermId, length: Length, terms: &mut Terms, conditions: &mut Vec<TermId>) {
        self.lengths.insert(pointer, length);
        let null = terms.constant(0, 64);
        let (is_null, is_empty) = (terms.eq(pointer, null), length.is_at_most(terms, 0));
        conditions.push(terms.implies(is_null, is_empty));
    }
}

/// The types that inputs are made of: the parameters of the entry, and the variables of the program.
fn roots(module: &ir::Module, entry: FuncId) -> Vec<SourceTypeId> {
    let mut roots = Vec::new();
    if let Some(SourceType::Function { params, result, .. }) = module.function(entry).signature.map(|ty| module.ty(ty))
    {
        roots.extend(params.iter().chain([result]).flatten());
    }
    let is_variable = |global: &&ir::Global| !global.is_constant && !global.is_runtime;
    roots.extend(module.globals.iter().filter(is_variable).filter_map(|global| global.ty));
    roots
}

/// The variables of the user's that something may point to. A test can name them.
fn variables(module: &ir::Module) -> Vec<GlobalId> {
    let Some(harness) = module.find_function("main") else { return Vec::new() };
    let is_name = |name: &str| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let is_variable = |global: &ir::Global| !global.is_constant && !global.is_runtime && is_name(&global.name);
    let mut taken = analysis::taken_globals(module, harness);
    taken.retain(|global| is_variable(&module.globals[global.idx()]));
    taken
}

impl Technique for Shapes {
    fn name(&self) -> &'static str {
        NAME
    }

    fn seats(&mut self) -> Option<&mut dyn Seats> {
        Some(self)
    }

    fn endings(&mut self) -> Option<&mut dyn Endings> {
        Some(self)
    }

    fn for_workers(&self) -> Option<Maker> {
        let (config, (module, entry)) = (self.config.clone(), self.subject.clone());
        Some(Arc::new(move || Box::new(Shapes::new(&config, &module, entry))))
    }

    fn report(&mut self) -> Report {
        Report::summary(format!("{{\"max\":{}}}", self.max_objects))
    }
}

impl Seats for Shapes {
    fn input(&mut self, path: &Path, request: &InputRequest, means: &mut Means) -> Option<InputForm> {
        self.form(path, request, means)
    }

    fn meanings(&mut self, path: &Path, asked: &Asked, means: &mut Means) -> Option<Meanings> {
        let (ways, left_out) = self.list(path, asked, means)?;
        Some(Meanings { ways, left_out })
    }

    fn mean(&mut self, path: &mut Path, asked: &Asked, meant: Meant, means: &mut Means) {
        match meant {
            Meant::Way(nth) => self.take(path, asked, nth, means),
            Meant::None => self.take_none(path),
        }
    }

    fn leads(&mut self, path: &Path, addr: TermId, means: &mut Means) -> Option<Leads> {
        self.lead(path, addr, means)
    }

    fn known(&mut self, path: &Path, condition: TermId, means: &mut Means) -> Option<TermId> {
        self.with_settled(path, condition, means)
    }

    fn order(&mut self, path: &Path, (a, b): (TermId, TermId), means: &mut Means) -> Option<String> {
        self.order_of(path, a, b, means)
    }

    fn places(&self) -> Vec<(GlobalId, u64)> {
        let place = |landmark: &Landmark| (landmark.global, self.kinds.base(landmark.slot));
        self.kinds.landmarks.iter().map(place).collect()
    }
}

impl Endings for Shapes {
    fn furnish(&mut self, _path: &Path, inputs: &mut Vec<InputValue>) {
        self.finish(inputs);
    }
}

pub const ENTRY: Entry = Entry {
    name: NAME,
    flags: &[MAX, VALID, KEEPS, ARRAY, POINTERS],
    check,
    make,
    resume: Resume::FromPending,
    company: company::COMPANY,
};

const MAX: Flag = Flag {
    name: "shapes-max",
    help: "`shapes`: objects of one type, and elements of one array, that a heap may have",
    takes: Takes::Number { named: "N", default: 8 },
};

const VALID: Flag = Flag {
    name: "shapes-valid",
    help: "`shapes`: functions `int g(const T *)` that hold of every structure of their type before the entry is called",
    takes: Takes::List { named: "G,..." },
};

const KEEPS: Flag = Flag {
    name: "shapes-keeps",
    help: "`shapes`: functions `int g(const T *)` that must hold after it; of what it returns, where that is a `T *`",
    takes: Takes::List { named: "G,..." },
};

const ARRAY: Flag = Flag {
    name: "shapes-array",
    help: "`shapes`: arrays and their lengths, parameters or members of one struct",
    takes: Takes::List { named: "A:N,..." },
};

const POINTERS: Flag = Flag {
    name: "shapes-pointers",
    help: "`shapes`: how a pointer is written for the solver; for comparison",
    takes: Takes::OneOf {
        named: "FORM",
        words: &[
            ("numbers", "the number of an object and a place in it; the address it is once it was followed"),
            ("addresses", "an address of 64 bits, else the same"),
            ("terms", "as `numbers`, and it stays a term"),
        ],
        default: "numbers",
    },
};

/// Whether an entry is given pointers, itself or by variables of the program.
pub fn has_pointers(module: &ir::Module, entry: FuncId) -> bool {
    fn within(module: &ir::Module, ty: SourceTypeId) -> bool {
        let Some(ty) = module.strip(ty) else { return false };
        match module.ty(ty) {
            SourceType::Pointer { .. } => true,
            SourceType::Array { of: Some(of), .. } => within(module, *of),
            SourceType::Struct { fields, .. } | SourceType::Union { fields, .. } => {
                fields.iter().filter_map(|field| field.ty).any(|ty| within(module, ty))
            }
            _ => false,
        }
    }
    let params = match module.function(entry).signature.map(|ty| module.ty(ty)) {
        Some(SourceType::Function { params, .. }) => params.as_slice(),
        _ => &[],
    };
    let is_variable = |global: &&ir::Global| !global.is_constant && !global.is_runtime && global.init == ir::Init::Zero;
    let globals = module.globals.iter().filter(is_variable).filter_map(|global| global.ty);
    params.iter().flatten().copied().chain(globals).any(|ty| within(module, ty))
}

/// What the user claims about structures.
pub struct Claims {
    pub valid: Vec<String>,
    pub keeps: Vec<String>,
}

/// The claims for the harness, where the line-up has the technique.
pub fn claims(line_up: &[String], flags: &Flags) -> Option<Claims> {
    let is_named = line_up.iter().any(|name| name == NAME);
    is_named.then(|| Claims { valid: flags.list(&VALID).to_vec(), keeps: flags.list(&KEEPS).to_vec() })
}

fn check(flags: &Flags, _named: Named) -> Result<(), String> {
    if flags.number(&MAX) == 0 {
        return Err("--shapes-max 0 leaves no heap at all; the smallest is 1".to_string());
    }
    if flags.number(&MAX) > 1000 {
        return Err("--shapes-max: at most 1000 objects of a type".to_string());
    }
    arrays(flags).map(|_| ())
}

fn arrays(flags: &Flags) -> Result<Vec<(String, String)>, String> {
    let pair = |word: &String| match word.split_once(':') {
        Some((array, length)) if !array.is_empty() && !length.is_empty() => Ok((array.to_string(), length.to_string())),
        _ => Err(format!("--shapes-array {word}: write the array and its length as `a:n`")),
    };
    flags.list(&ARRAY).iter().map(pair).collect()
}

fn make(making: &Making) -> Result<Part, String> {
    let flags = making.flags;
    let config = Config {
        max_objects: flags.number(&MAX),
        arrays: arrays(flags)?,
        representation: match flags.word(&POINTERS) {
            "addresses" => Representation::Addresses,
            "terms" => Representation::Terms,
            _ => Representation::Numbers,
        },
    };
    if making.subject.module.target.pointer_bytes != 8 {
        return Err("`shapes` needs a target with pointers of 64 bits".to_string());
    }
    Ok(Part::passive(Shapes::new(&config, making.subject.module, making.subject.entry)))
}
