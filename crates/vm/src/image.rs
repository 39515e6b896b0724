//! A module made ready to run: addresses given out, initialisers laid down, library functions bound.

use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;

use ir::{FuncId, Function, GlobalId, Init, Module, SpanId, SymbolRef};
use rustc_hash::FxHashMap;
use witness::Place;

use crate::meant::WaysBack;
use crate::memory::Layout;
use crate::object::Site;
use crate::stubs::{self, Stub};
use crate::switches::Checks;
use crate::{Frame, List, Memory, Object, ObjectKind, State, Uninit};

/// What surrounds the program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct World {
    /// Whether hot concrete code is translated to native code.
    pub compile: bool,
    /// Bytes of symbolic standard input.
    pub stdin_bytes: u32,
    /// Arguments given as they are; the symbolic ones follow.
    pub args: Vec<String>,
    /// Symbolic files by name and size, below the working folder.
    pub files: Vec<(String, u32)>,
    /// `NAME=VALUE`.
    pub environment: Vec<String>,
    /// How many calls may fail on one path.
    pub fail_calls: u32,
    /// Real folders the program may read.
    pub readable: Vec<PathBuf>,
    /// What memory nobody wrote is taken for.
    pub uninit: Uninit,
    /// Whether standard output is kept with the state.
    pub record_output: bool,
    /// Whether numbers of `rand` and its relatives are inputs.
    pub rand_input: bool,
}

/// What a call of a function does.
#[derive(Clone, Copy)]
pub(crate) enum Binding {
    Body,
    Stub(Stub),
    /// The stub handles concrete data and declines otherwise; then the body runs.
    StubThenBody(Stub),
    Missing,
}

pub struct Image {
    pub module: Arc<Module>,
    pub checks: Checks,
    pub world: World,
    pub layout: &'static Layout,
    /// Bytes between two objects, at least.
    pub(crate) gap: u64,
    pub(crate) bindings: Vec<Binding>,
    pub entry: FuncId,
    pub constructors: Vec<FuncId>,
    /// Stands in for `printf` and its relatives where nobody looks at the result.
    light: FxHashMap<FuncId, FuncId>,
    /// Runs what `atexit` registered; linked only when the program needs it.
    pub exit_handlers: Option<FuncId>,
    function_addrs: Vec<u64>,
    global_addrs: Vec<u64>,
    globals: List<Rc<Object>>,
    /// By function.
    pub(crate) ways_back: Vec<WaysBack>,
    /// First edge number of every block of every function; entry 0 of a function is its entry "edge".
    first_edges: Vec<Box<[u32]>>,
    n_edges: u32,
}

impl Image {
    /// `places` are addresses among the inputs for variables that are to lie there.
    pub fn new(
        module: Arc<Module>,
        entry: FuncId,
        constructors: Vec<FuncId>,
        checks: Checks,
        world: World,
        places: &[(GlobalId, u64)],
    ) -> Image {
        let layout = Layout::of_pointer_bytes(module.target.pointer_bytes);
        let function_addrs = place_functions(&module, layout);
        let (global_addrs, gap) = place_globals(&module, layout, places);
        let globals = lay_down(&module, &function_addrs, &global_addrs);
        let bindings = module.functions.iter().map(bind).collect();
        let (first_edges, n_edges) = number_edges(&module);
        let pointer_bits = module.target.pointer_bytes * 8;
        let ways_back = module.functions.iter().map(|function| WaysBack::new(function, pointer_bits)).collect();
        let body = |name: &str| module.find_function(name).filter(|func| !module.function(*func).is_declaration());
        let light = stubs::LIGHT
            .iter()
            .filter_map(|(name, light)| Some((body(name)?, body(light)?)))
            .filter(|(func, _)| module.function(*func).is_runtime)
            .collect();
        let exit_handlers = body("__colt_run_exit_handlers");
        Image {
            checks,
            world,
            layout,
            gap,
            bindings,
            entry,
            constructors,
            exit_handlers,
            light,
            function_addrs,
            global_addrs,
            globals,
            ways_back,
            first_edges,
            n_edges,
            module,
        }
    }

    pub fn pointer_bits(&self) -> u8 {
        self.module.target.pointer_bytes * 8
    }

    pub fn initial_memory(&self) -> Memory {
        Memory::new(self.layout, self.globals.clone())
    }

    pub fn address_of(&self, symbol: SymbolRef) -> u64 {
        address_of(&self.function_addrs, &self.global_addrs, symbol)
    }

    pub fn global_addr(&self, global: GlobalId) -> u64 {
        self.global_addrs[global.idx()]
    }

    pub fn function_at(&self, addr: u64) -> Option<FuncId> {
        self.function_addrs.binary_search(&addr).ok().map(FuncId::new)
    }

    /// Whether `addr` lies in code.
    pub fn is_code(&self, addr: u64) -> bool {
        addr >= self.layout.functions && addr < self.layout.globals
    }

    pub fn n_edges(&self) -> u32 {
        self.n_edges
    }

    pub fn first_edge(&self, func: FuncId, block: ir::BlockId) -> u32 {
        self.first_edges[func.idx()][block.idx() + 1]
    }

    pub fn entry_edge(&self, func: FuncId) -> u32 {
        self.first_edges[func.idx()][0]
    }

    /// What to enter for a call of `func` whose result nobody reads.
    pub fn lighter(&self, func: FuncId) -> FuncId {
        if self.world.record_output { func } else { self.light.get(&func).copied().unwrap_or(func) }
    }

    /// The innermost position in the user's own code, as allocation sites are named.
    pub fn user_site(&self, state: &State) -> Site {
        let user = state.frames().find(|frame| !self.module.function(frame.func).is_runtime).unwrap_or(&state.top);
        Site { func: user.func, span: self.span_of(user) }
    }

    /// A frame's current position.
    pub fn span_of(&self, frame: &Frame) -> SpanId {
        let function = self.module.function(frame.func);
        let block = function.block(frame.block);
        let spans = block.spans.get(frame.inst_idx as usize..).unwrap_or_default();
        // What makes room for variables has no position of its own.
        let located = spans.iter().find(|span| self.module.span(**span).line != 0);
        located.or(spans.first()).copied().unwrap_or(SpanId(0))
    }

    pub fn place_at(&self, func: FuncId, span: SpanId) -> Place {
        let span = self.module.span(span);
        let function = self.module.function(func);
        let file = span.file.or(function.file).map_or("", |file| &self.module.files[file.idx()].path);
        Place { file: file.into(), line: span.line, column: span.column, function: function.name.as_str().into() }
    }

    /// The innermost position in the user's own code, and its callers.
    pub fn whereabouts(&self, state: &State) -> (Place, Vec<Place>) {
        let mut places: Vec<Place> = Vec::new();
        for frame in state.frames().take(64) {
            if places.is_empty() && self.module.function(frame.func).is_runtime && state.depth > 1 {
                continue;
            }
            places.push(self.place_at(frame.func, self.span_of(frame)));
        }
        if places.is_empty() {
            return (Place::default(), places);
        }
        let place = places.remove(0);
        (place, places)
    }
}

fn place_functions(module: &Module, layout: &Layout) -> Vec<u64> {
    let mut next = layout.functions;
    let place = |function: &Function| {
        let addr = next;
        // One address per block for computed gotos, after the function's own.
        next = (addr + 1 + function.blocks.len() as u64).next_multiple_of(16);
        addr
    };
    module.functions.iter().map(place).collect()
}

/// Where each global lies, and how many bytes there are between any two of them at least.
fn place_globals(module: &Module, layout: &Layout, places: &[(GlobalId, u64)]) -> (Vec<u64>, u64) {
    let align = |global: &ir::Global| u64::from(global.align).max(16);
    let n_bytes = module.globals.iter().map(|global| global.bytes + align(global)).sum();
    let gap = layout.global_gap(module.globals.len() as u64, n_bytes);
    let mut next = layout.globals;
    let place = |global: &ir::Global| {
        let addr = next.next_multiple_of(align(global));
        next = addr + global.bytes + gap;
        addr
    };
    let mut addresses: Vec<u64> = module.globals.iter().map(place).collect();
    for (global, addr) in places {
        addresses[global.idx()] = *addr;
    }
    (addresses, gap)
}

fn address_of(function_addrs: &[u64], global_addrs: &[u64], symbol: SymbolRef) -> u64 {
    match symbol {
        SymbolRef::Global(global) => global_addrs[global.idx()],
        SymbolRef::Function(func) => function_addrs[func.idx()],
        SymbolRef::Block(func, block) => function_addrs[func.idx()] + 1 + u64::from(block.0),
    }
}

fn lay_down(module: &Module, function_addrs: &[u64], global_addrs: &[u64]) -> List<Rc<Object>> {
    let make = |(idx, global): (usize, &ir::Global)| {
        let mut data = vec![0u8; global.bytes as usize].into_boxed_slice();
        if let Init::Bytes { bytes, relocs } = &global.init {
            let n = bytes.len().min(data.len());
            data[..n].copy_from_slice(&bytes[..n]);
            for reloc in relocs {
                let plus = address_of(function_addrs, global_addrs, reloc.plus);
                let minus = reloc.minus.map_or(0, |symbol| address_of(function_addrs, global_addrs, symbol));
                let value = plus.wrapping_sub(minus).wrapping_add(reloc.addend as u64).to_le_bytes();
                let at = reloc.offset as usize;
                data[at..at + reloc.bytes as usize].copy_from_slice(&value[..reloc.bytes as usize]);
            }
        }
        let kind = if global.is_constant { ObjectKind::Constant } else { ObjectKind::Global };
        let mut object = Object::new(global_addrs[idx], global.bytes, kind, data);
        object.ty = global.ty;
        object.origin = global_addrs[idx];
        Rc::new(object)
    };
    let mut objects: Vec<Rc<Object>> = module.globals.iter().enumerate().map(make).collect();
    objects.sort_by_key(|object| object.base);
    objects.into_iter().collect()
}

fn bind(function: &Function) -> Binding {
    match (stubs::find(&function.name), function.is_declaration()) {
        (Some(stub), true) => Binding::Stub(stub),
        (Some(stub), false) if function.is_runtime => Binding::StubThenBody(stub),
        (_, false) => Binding::Body,
        (None, true) => Binding::Missing,
    }
}

fn number_edges(module: &Module) -> (Vec<Box<[u32]>>, u32) {
    let mut next = 0u32;
    let number = |function: &Function| {
        let mut first = Vec::with_capacity(function.blocks.len() + 1);
        first.push(next);
        next += 1;
        for block in &function.blocks {
            first.push(next);
            next += block.terminator.edges().len() as u32;
        }
        first.into_boxed_slice()
    };
    let first_edges = module.functions.iter().map(number).collect();
    (first_edges, next)
}
