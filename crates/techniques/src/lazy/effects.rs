//! What a function may change, found without running it: the bound within which a call of it can be made up.
//!
//! For every register of a function: which objects its value may point into. Objects are named by how the function came
//! by them: its own variables, a parameter, a global, or not known. Pointers read from memory are not known, which is
//! coarse for data structures and good enough for buffers, cursors and out-parameters, which is what is worth skipping.

use std::collections::BTreeSet;

use analysis::CallGraph;
use ir::{Call, Callee, FuncId, Function, GlobalId, Init, Inst, Intrinsic, Module, Reg, SymbolRef, Terminator};

/// Objects a pointer may point into.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reach {
    own: bool,
    pub unknown: bool,
    /// Bit per parameter.
    pub params: u64,
    pub globals: BTreeSet<GlobalId>,
}

/// Parameters beyond this many are not told apart.
const MAX_PARAMS: usize = 64;

impl Reach {
    fn own() -> Reach {
        Reach { own: true, ..Reach::default() }
    }

    fn unknown() -> Reach {
        Reach { unknown: true, ..Reach::default() }
    }

    fn param(idx: usize) -> Reach {
        if idx < MAX_PARAMS { Reach { params: 1 << idx, ..Reach::default() } } else { Reach::unknown() }
    }

    fn global(global: GlobalId) -> Reach {
        Reach { globals: BTreeSet::from([global]), ..Reach::default() }
    }

    fn is_nothing(&self) -> bool {
        *self == Reach::default()
    }

    /// Whether that told something new.
    fn add(&mut self, other: &Reach) -> bool {
        if other.is_nothing() {
            return false;
        }
        let before = (self.own, self.unknown, self.params, self.globals.len());
        self.own |= other.own;
        self.unknown |= other.unknown;
        self.params |= other.params;
        self.globals.extend(&other.globals);
        before != (self.own, self.unknown, self.params, self.globals.len())
    }

    fn with(mut self, other: &Reach) -> Reach {
        self.add(other);
        self
    }

    pub fn has_param(&self, idx: usize) -> bool {
        idx < MAX_PARAMS && self.params & 1 << idx != 0
    }
}

/// What a call may do to its caller's world beside giving results.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Effects {
    pub writes: Reach,
    returns: Reach,
    /// It may ask for inputs.
    pub asks_inputs: bool,
    /// It may read standard input.
    pub reads_stdin: bool,
    /// Why what it does cannot be bounded.
    pub unbounded: Option<String>,
}

impl Effects {
    fn wild(why: impl Into<String>) -> Effects {
        Effects { unbounded: Some(why.into()), ..Effects::default() }
    }

    /// Why a call of it cannot be made up, if so.
    pub fn obstacle(&self) -> Option<&str> {
        match &self.unbounded {
            Some(why) => Some(why),
            None if self.writes.unknown => Some("it writes through pointers that it finds in memory"),
            None => None,
        }
    }
}

/// Writes to the terminal and nothing a program can see, where there are no files.
const OUTPUT: &[&str] = &[
    "printf",
    "vprintf",
    "fprintf",
    "vfprintf",
    "puts",
    "fputs",
    "putchar",
    "putchar_unlocked",
    "fputc",
    "putc",
    "fflush",
    "perror",
    "fwrite",
];

/// The effects of every function, callees before callers.
pub fn of_module(module: &Module, graph: &CallGraph) -> Vec<Effects> {
    let files = files(module);
    let mut table: Vec<Effects> =
        module.functions.iter().map(|function| known(function, files).unwrap_or_default()).collect();
    for component in graph.components() {
        let mut changed = true;
        while changed {
            changed = false;
            for func in component {
                let function = module.function(*func);
                if known(function, files).is_some() {
                    continue;
                }
                let effects = Scan::new(module, function, &table).effects();
                changed |= effects != table[func.idx()] && graph.is_recursive(*func);
                table[func.idx()] = effects;
            }
        }
    }
    table
}

/// Ours to ask the engine with; they change nothing.
const QUESTIONS: &[&str] = &[
    "__colt_apart",
    "__colt_assert_fail",
    "__colt_bounded_pointer",
    "__colt_check_string",
    "__colt_checks_overlap",
    "__colt_concrete",
    "__colt_exit",
    "__colt_gap",
    "__colt_next_size",
    "__colt_note",
    "__colt_object_size",
    "__colt_output",
    "__colt_real_kind",
    "__colt_real_size",
    "__colt_room",
    "__colt_world_number",
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Files {
    None,
    Some,
}

/// Whether a program can read what it wrote elsewhere than in memory.
fn files(module: &Module) -> Files {
    if module.find_function("__colt_world_text").is_some() { Files::Some } else { Files::None }
}

/// Functions that are known by name.
fn known(function: &Function, files: Files) -> Option<Effects> {
    let name = function.name.as_str();
    let is_ours = files == Files::None && (function.is_runtime || function.is_declaration());
    if is_ours && (OUTPUT.contains(&name) || name.starts_with("__colt_") && name.ends_with("_light")) {
        return Some(Effects::default());
    }
    match name {
        "longjmp" | "_longjmp" | "siglongjmp" | "__longjmp_chk" | "setjmp" | "_setjmp" | "sigsetjmp"
        | "__sigsetjmp" => {
            return Some(Effects::wild("it jumps between functions"));
        }
        "free" | "malloc" | "__colt_malloc_aligned" | "__colt_realloc_check" => {
            return Some(Effects::wild("it allocates or frees memory"));
        }
        _ => {}
    }
    if !function.is_declaration() {
        return None;
    }
    let inputs = Effects { asks_inputs: true, ..Effects::default() };
    Some(match name {
        "colt_input" | "klee_make_symbolic" => Effects { writes: Reach::param(0), ..inputs },
        "memcpy" | "memmove" | "memset" => Effects { writes: Reach::param(0), ..Effects::default() },
        "__colt_stdin_byte" => Effects { reads_stdin: true, ..inputs },
        "time" | "clock" | "klee_range" | "klee_int" => inputs,
        "colt_assume" | "colt_assert" | "klee_assume" | "klee_prefer_cex" | "klee_is_symbolic"
        | "__VERIFIER_assume" | "klee_warning" | "klee_warning_once" | "strlen" | "strcmp" => Effects::default(),
        _ if name.starts_with("__VERIFIER_nondet_") || name.starts_with("colt_") => inputs,
        "__colt_world_text" => Effects { writes: Reach::param(2), ..Effects::default() },
        "__colt_real_read" => Effects { writes: Reach::param(1), ..Effects::default() },
        _ if QUESTIONS.contains(&name) || name.starts_with("klee_get_value") => Effects::default(),
        _ if function.no_return || NO_RETURN.contains(&name) => Effects::default(),
        _ if is_float_function(function) => Effects::default(),
        _ => Effects::wild(format!("it calls `{name}`, of which nothing is known")),
    })
}

const NO_RETURN: &[&str] = &[
    "abort",
    "exit",
    "_exit",
    "_Exit",
    "klee_silent_exit",
    "klee_abort",
    "klee_report_error",
    "reach_error",
    "__assert_fail",
    "__VERIFIER_error",
];

/// Floats in, a float out: the mathematical library.
fn is_float_function(function: &Function) -> bool {
    function.results.len() == 1
        && !function.params.is_empty()
        && function.params.iter().all(|param| param.bits >= 32)
        && matches!(
            function.name.as_str(),
            "sin" | "cos" | "tan" | "sqrt" | "fabs" | "floor" | "ceil" | "pow" | "exp" | "log"
        )
}

/// One function's walk: what its registers may point into, block by block, until nothing is new.
struct Scan<'a> {
    module: &'a Module,
    function: &'a Function,
    table: &'a [Effects],
    found: Effects,
}

impl<'a> Scan<'a> {
    fn new(module: &'a Module, function: &'a Function, table: &'a [Effects]) -> Scan<'a> {
        Scan { module, function, table, found: Effects::default() }
    }

    fn effects(mut self) -> Effects {
        let n_slots = self.function.n_slots as usize;
        let mut at_entry: Vec<Option<Vec<Reach>>> = vec![None; self.function.blocks.len()];
        let mut first = vec![Reach::default(); n_slots];
        for (idx, param) in self.function.params.iter().enumerate() {
            first[param.reg.idx()] = Reach::param(idx);
        }
        at_entry[0] = Some(first);
        let mut work = vec![0usize];
        while let Some(block_idx) = work.pop() {
            let Some(mut regs) = at_entry[block_idx].clone() else { continue };
            let block = &self.function.blocks[block_idx];
            for inst in &block.insts {
                self.step(&mut regs, inst);
            }
            if let Terminator::Return(values) = &block.terminator {
                for reg in values {
                    self.found.returns.add(&regs[reg.idx()]);
                }
            }
            for edge in block.terminator.edges() {
                let mut regs = regs.clone();
                for step in &edge.moves {
                    regs[step.dst.idx()] = regs[step.src.idx()].clone();
                }
                let target = edge.target.idx();
                let changed = match &mut at_entry[target] {
                    Some(known) => {
                        known.iter_mut().zip(&regs).fold(false, |changed, (known, new)| known.add(new) | changed)
                    }
                    none => {
                        *none = Some(regs);
                        true
                    }
                };
                if changed && !work.contains(&target) {
                    work.push(target);
                }
            }
        }
        self.found
    }

    fn step(&mut self, regs: &mut [Reach], inst: &Inst) {
        let both = |regs: &[Reach], a: &Reg, b: &Reg| regs[a.idx()].clone().with(&regs[b.idx()]);
        match inst {
            Inst::Const { dst, .. }
            | Inst::WideConst { dst, .. }
            | Inst::Undef { dst, .. }
            | Inst::Cmp { dst, .. }
            | Inst::CmpImm { dst, .. }
            | Inst::FloatBin { dst, .. }
            | Inst::FloatCmp { dst, .. }
            | Inst::FloatCast { dst, .. }
            | Inst::FloatMath { dst, .. } => regs[dst.idx()] = Reach::default(),
            Inst::Address { dst, symbol, .. } => {
                regs[dst.idx()] = match symbol {
                    SymbolRef::Global(global) => Reach::global(*global),
                    SymbolRef::Function(_) | SymbolRef::Block(..) => Reach::default(),
                }
            }
            Inst::Copy { dst, src: a, .. } | Inst::BinImm { dst, a, .. } | Inst::Cast { dst, a, .. } => {
                regs[dst.idx()] = regs[a.idx()].clone();
            }
            Inst::Bin { dst, a, b, .. } | Inst::Select { dst, a, b, .. } | Inst::BitOp { dst, a, b, .. } => {
                regs[dst.idx()] = both(regs, a, b);
            }
            Inst::Overflow { dst, flag, a, b, .. } => {
                regs[dst.idx()] = both(regs, a, b);
                regs[flag.idx()] = Reach::default();
            }
            Inst::FunnelShl { dst, hi, lo, .. } | Inst::FunnelShr { dst, hi, lo, .. } => {
                regs[dst.idx()] = both(regs, hi, lo)
            }
            Inst::Index { dst, base, index, .. } => {
                let base = regs[base.idx()].clone();
                regs[dst.idx()] = if base.is_nothing() { regs[index.idx()].clone() } else { base };
            }
            Inst::Load { dst, bits, addr, .. } => {
                let is_pointer = *bits >= self.module.target.pointer_bytes * 8;
                regs[dst.idx()] = if is_pointer { self.loaded(&regs[addr.idx()]) } else { Reach::default() };
            }
            Inst::Store { addr, .. } => self.write(&regs[addr.idx()].clone()),
            Inst::Alloca { dst, .. } => regs[dst.idx()] = Reach::own(),
            Inst::Call { call } => self.call(regs, &self.function.calls[call.idx()]),
        }
    }

    /// A pointer read from memory. The library's own tables of pointers are fixed.
    fn loaded(&self, from: &Reach) -> Reach {
        let is_table = !from.own && !from.unknown && from.params == 0 && !from.globals.is_empty();
        if !is_table || !from.globals.iter().all(|global| self.module.global(*global).is_runtime) {
            return Reach::unknown();
        }
        let mut reach = Reach::default();
        for global in &from.globals {
            let Init::Bytes { relocs, .. } = &self.module.global(*global).init else { return Reach::unknown() };
            for reloc in relocs {
                if let SymbolRef::Global(target) = reloc.plus {
                    reach.globals.insert(target);
                }
            }
        }
        if reach.is_nothing() { Reach::unknown() } else { reach }
    }

    fn write(&mut self, to: &Reach) {
        if to.is_nothing() {
            self.found.writes.unknown = true;
            return;
        }
        let visible = Reach { own: false, ..to.clone() };
        self.found.writes.add(&visible);
    }

    fn call(&mut self, regs: &mut [Reach], call: &Call) {
        let mut result = Reach::default();
        match &call.callee {
            Callee::Intrinsic(
                Intrinsic::MemCpy | Intrinsic::MemMove | Intrinsic::MemSet | Intrinsic::VaCopy | Intrinsic::VaStart,
            ) => {
                if let Some(dst) = call.args.first() {
                    self.write(&regs[dst.reg.idx()].clone());
                }
            }
            Callee::Intrinsic(_) => {}
            Callee::Function(func) => result = self.callee(regs, call, *func),
            Callee::Indirect(_) => self.unbound("it calls through a pointer"),
            Callee::Gap(what) => self.unbound(&format!("it uses {what}")),
        }
        for (reg, _) in &call.results {
            regs[reg.idx()] = result.clone();
        }
    }

    fn callee(&mut self, regs: &[Reach], call: &Call, func: FuncId) -> Reach {
        let effects = &self.table[func.idx()];
        if let Some(why) = &effects.unbounded {
            let why = why.clone();
            self.unbound(&why);
        }
        let effects = &self.table[func.idx()];
        self.found.asks_inputs |= effects.asks_inputs;
        self.found.reads_stdin |= effects.reads_stdin;
        let (writes, returns) = (effects.writes.clone(), effects.returns.clone());
        let visible = self.in_caller(regs, call, &writes);
        self.found.writes.add(&Reach { own: false, ..visible });
        self.in_caller(regs, call, &returns)
    }

    /// The callee's words for objects turned into the caller's.
    fn in_caller(&self, regs: &[Reach], call: &Call, reach: &Reach) -> Reach {
        let mut here = Reach { own: false, params: 0, ..reach.clone() };
        for (idx, arg) in call.args.iter().enumerate() {
            if reach.has_param(idx) && arg.byval.is_none() {
                let target = &regs[arg.reg.idx()];
                if target.is_nothing() {
                    here.unknown = true;
                }
                here.add(target);
            }
        }
        here
    }

    fn unbound(&mut self, why: &str) {
        self.found.unbounded.get_or_insert_with(|| why.to_string());
    }
}
