//! From a linked LLVM module to ours.
//!
//! The user's functions and globals are translated all; those of Colt's own library only where something refers to
//! them, so ids are given out on first mention and bodies wait in a queue.

mod assembly;
mod body;
mod checks;
mod constant;
mod instruction;
mod intrinsic;
mod memory;
pub(crate) mod shape;
mod slots;
mod uses;
mod wide;

use std::collections::VecDeque;
use std::rc::Rc;

pub(super) use ir::slots_of as slot_count;
use ir::{BlockId, FuncId, Function, Global, GlobalId, Module, Param, Reg, Slot, SymbolRef, Target};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::debug::DebugInfo;
use crate::link::{self, Linked};
use crate::llvm::{self, AttributeKind, BasicBlock, Context, Layout, Type, Value};
use crate::{PointerSteps, PointerUses};
use shape::Shapes;

/// Attributes we ask for, resolved once.
pub(super) struct Attributes {
    pub byval: AttributeKind,
    pub align: AttributeKind,
    pub noreturn: AttributeKind,
}

/// Numbers of the blocks that can be reached, in the order of the source, and the order to translate them in.
pub(super) struct Numbering {
    ids: FxHashMap<BasicBlock, BlockId>,
    /// Reverse postorder: a definition comes before its uses, phis apart.
    pub order: Vec<BasicBlock>,
    pub n_blocks: usize,
}

impl Numbering {
    pub fn id(&self, block: BasicBlock) -> Option<BlockId> {
        self.ids.get(&block).copied()
    }
}

pub(crate) struct ModuleTranslator<'c> {
    context: &'c Context,
    llvm: llvm::Module,
    linked: &'c Linked,
    layout: Layout,
    shapes: Shapes,
    debug: DebugInfo<'c>,
    attributes: Attributes,
    functions: Vec<Function>,
    globals: Vec<Global>,
    func_ids: FxHashMap<Value, FuncId>,
    global_ids: FxHashMap<Value, GlobalId>,
    numberings: FxHashMap<Value, Rc<Numbering>>,
    pending_bodies: VecDeque<Value>,
    pending_globals: VecDeque<Value>,
    told: Told,
    followed: uses::Followed,
}

/// What of the code is told to the machine besides what it does.
#[derive(Clone, Copy, Default)]
pub(crate) struct Told {
    pub steps: PointerSteps,
    pub uses: PointerUses,
}

/// What translation yields besides the module.
pub(crate) struct Translated {
    pub module: Module,
    pub constructors: Vec<FuncId>,
    pub destructors: Vec<FuncId>,
}

pub(crate) fn translate<'c>(
    context: &'c Context,
    linked: &'c Linked,
    debug: DebugInfo<'c>,
    told: Told,
) -> Result<Translated, String> {
    let mut translator = ModuleTranslator::new(context, linked, debug);
    translator.told = told;
    if told.uses == PointerUses::Told {
        translator.read_all_types();
    }
    translator.declare_roots();
    let constructors = translator.start_list("llvm.global_ctors");
    let destructors = translator.start_list("llvm.global_dtors");
    translator.drain()?;
    Ok(Translated { module: translator.finish(), constructors, destructors })
}

impl<'c> ModuleTranslator<'c> {
    fn new(context: &'c Context, linked: &'c Linked, debug: DebugInfo<'c>) -> ModuleTranslator<'c> {
        let layout = linked.module.layout();
        ModuleTranslator {
            context,
            llvm: linked.module,
            linked,
            layout,
            shapes: Shapes::new(layout),
            debug,
            attributes: Attributes {
                byval: context.attribute_kind("byval"),
                align: context.attribute_kind("align"),
                noreturn: context.attribute_kind("noreturn"),
            },
            functions: Vec::new(),
            globals: Vec::new(),
            func_ids: FxHashMap::default(),
            global_ids: FxHashMap::default(),
            numberings: FxHashMap::default(),
            pending_bodies: VecDeque::new(),
            pending_globals: VecDeque::new(),
            told: Told::default(),
            followed: uses::Followed::default(),
        }
    }

    fn declare_roots(&mut self) {
        let is_root = |linked: &Linked, value: Value| !value.is_declaration() && linked.is_root(value);
        for function in self.llvm.functions().collect::<Vec<_>>() {
            if is_root(self.linked, function) {
                self.function_id(function);
            }
        }
        for global in self.llvm.globals().collect::<Vec<_>>() {
            if is_root(self.linked, global) && !global.name().starts_with("llvm.") {
                self.global_id(global);
            }
        }
    }

    fn drain(&mut self) -> Result<(), String> {
        loop {
            if let Some(global) = self.pending_globals.pop_front() {
                self.define_global(global)?;
            } else if let Some(function) = self.pending_bodies.pop_front() {
                body::translate(self, function);
            } else {
                return Ok(());
            }
        }
    }

    fn finish(self) -> Module {
        Module {
            target: Target { triple: self.llvm.triple(), pointer_bytes: self.layout.pointer_bytes() },
            functions: self.functions,
            globals: self.globals,
            types: self.debug.types,
            files: self.debug.files,
            spans: self.debug.spans,
        }
    }

    fn symbol(&mut self, value: Value) -> SymbolRef {
        match value.kind() {
            llvm::ValueKind::LLVMFunctionValueKind => SymbolRef::Function(self.function_id(value)),
            _ => SymbolRef::Global(self.global_id(value)),
        }
    }

    fn function_id(&mut self, function: Value) -> FuncId {
        if let Some(func) = self.func_ids.get(&function) {
            return *func;
        }
        let func = FuncId::new(self.functions.len());
        self.func_ids.insert(function, func);
        let declaration = self.declare_function(function);
        self.functions.push(declaration);
        if !function.is_declaration() {
            self.pending_bodies.push_back(function);
        }
        func
    }

    fn declare_function(&mut self, function: Value) -> Function {
        let ty = function.value_type();
        let mut n_slots = 0;
        let mut params = Vec::new();
        for param in ty.params() {
            // A parameter we cannot hold has no register: whatever uses it is a gap.
            for scalar in self.shapes.of(param).iter().flat_map(|shape| shape.iter()) {
                params.push(Param { reg: Reg(n_slots), bits: scalar.bits });
                n_slots += slot_count(scalar.bits);
            }
        }
        let results = self
            .shapes
            .of(ty.result())
            .map_or_else(|_| Vec::new(), |shape| shape.iter().map(|scalar| Slot { bits: scalar.bits }).collect());
        let info = self.debug.function(function);
        let name = match info.name {
            // Linking renames statics that clash; the source name is what people know.
            Some(name) if function.is_local() && !name.is_empty() => name,
            _ => link::plain_name(&function.name()).to_string(),
        };
        Function {
            name,
            params,
            results,
            variadic: ty.is_variadic(),
            no_return: function.has_function_attribute(self.attributes.noreturn),
            n_slots,
            blocks: Vec::new(),
            calls: Vec::new(),
            variables: Vec::new(),
            holdings: Vec::new(),
            file: info.file,
            line: info.line,
            signature: info.signature,
            param_names: info.param_names,
            is_runtime: self.linked.is_runtime(function),
            is_static: function.is_local(),
        }
    }

    fn global_id(&mut self, global: Value) -> GlobalId {
        if let Some(id) = self.global_ids.get(&global) {
            return *id;
        }
        let id = GlobalId::new(self.globals.len());
        self.global_ids.insert(global, id);
        let ty = global.value_type();
        self.globals.push(Global {
            name: link::plain_name(&global.name()).to_string(),
            bytes: self.layout.alloc_size(ty),
            align: if global.align() == 0 { self.layout.abi_align(ty) } else { global.align() },
            init: ir::Init::External,
            is_constant: global.is_global_constant(),
            ty: self.debug.global_type(global),
            is_runtime: self.linked.is_runtime(global),
        });
        self.pending_globals.push_back(global);
        id
    }

    fn define_global(&mut self, global: Value) -> Result<(), String> {
        let id = self.global_ids[&global];
        let n_bytes = self.globals[id.idx()].bytes;
        let init = self.initialiser(global, n_bytes).map_err(|what| {
            format!("the global variable `{}` has an initialiser that Colt cannot represent ({what})", global.name())
        })?;
        self.globals[id.idx()].init = init;
        Ok(())
    }

    /// Functions of a list such as `llvm.global_ctors`, by rising priority.
    fn start_list(&mut self, name: &str) -> Vec<FuncId> {
        let list = self.llvm.global(name).and_then(|global| global.initializer());
        let Some(list) = list.filter(|list| !list.is_null()) else { return Vec::new() };
        let mut entries: Vec<(u64, Value)> = Vec::new();
        for i in 0..list.ty().array_len() {
            let Some(entry) = list.aggregate_element(i as u32) else { continue };
            let (priority, function) = (entry.operand(0), entry.operand(1));
            if function.kind() == llvm::ValueKind::LLVMFunctionValueKind {
                entries.push((priority.int_bits(32) as u64, function));
            }
        }
        entries.sort_by_key(|(priority, _)| *priority);
        entries.into_iter().map(|(_, function)| self.function_id(function)).collect()
    }

    fn numbering(&mut self, function: Value) -> Rc<Numbering> {
        if let Some(numbering) = self.numberings.get(&function) {
            return numbering.clone();
        }
        let numbering = Rc::new(number_blocks(function));
        self.numberings.insert(function, numbering.clone());
        numbering
    }

    fn type_bytes(&self, ty: Type) -> u64 {
        self.layout.alloc_size(ty)
    }
}

fn number_blocks(function: Value) -> Numbering {
    let blocks: Vec<BasicBlock> = function.blocks().collect();
    let mut order = postorder(&blocks);
    order.reverse();
    let reached: FxHashSet<BasicBlock> = order.iter().copied().collect();
    let in_source_order = blocks.into_iter().filter(|block| reached.contains(block));
    let ids: FxHashMap<BasicBlock, BlockId> =
        in_source_order.enumerate().map(|(idx, block)| (block, BlockId::new(idx))).collect();
    Numbering { n_blocks: ids.len(), ids, order }
}

fn postorder(blocks: &[BasicBlock]) -> Vec<BasicBlock> {
    let Some(entry) = blocks.first() else { return Vec::new() };
    let mut order = Vec::new();
    let mut seen: FxHashSet<BasicBlock> = FxHashSet::from_iter([*entry]);
    let mut stack = vec![(*entry, entry.terminator().successors().into_iter())];
    while let Some((block, successors)) = stack.last_mut() {
        match successors.next() {
            Some(next) if seen.insert(next) => stack.push((next, next.terminator().successors().into_iter())),
            Some(_) => {}
            None => {
                order.push(*block);
                stack.pop();
            }
        }
    }
    order
}
