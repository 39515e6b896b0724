//! Hot concrete code as native code.
//!
//! A function whose loops run often is translated with Cranelift, whole, with an entry at every loop head. The native code
//! does what the loop in `run` does on concrete values of up to 64 bits and nothing else. Whatever else comes up (a
//! call, an access that the site's remembered object does not cover, a division that may trap, an edge nobody has taken
//! yet, fuel gone) leaves to the interpreter, which stands at that very instruction with all registers in place: every
//! result is stored to its slot as soon as it is computed, and read back from a native register. So there is no second
//! semantics to keep: the interpreter alone is complete, and native code may leave at any instruction.
//!
//! Native code knows nothing of shadows. Before it is entered, every register that is live at the loop head must be
//! without one; and since memory is only reached through remembered objects, which are plain, nothing symbolic can come
//! in later.

mod translator;

use cranelift_codegen::ir::{AbiParam, types};
use cranelift_codegen::settings::{self, Configurable};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::Module as _;
use ir::{BlockId, FuncId, Function};

use crate::Shadow;
use crate::frame::{Frame, Slot};
use crate::image::Image;
use crate::tlb::Tlb;
use translator::Translator;

/// Back edges taken before a function is translated.
const HOT: u32 = 2_000;
/// Back edges for which a function is left alone after its registers were found symbolic.
const COOL_DOWN: u32 = 256;
/// Larger functions are not translated: it would take longer than it saves.
const MAX_INSTS: usize = 20_000;
/// After this many entries that hardly did anything the translation is given up.
const MAX_FUTILE: u32 = 1_000;
const FUTILE_FUEL: i64 = 64;

/// What native code is given; its layout is known to it.
#[repr(C)]
struct Context {
    regs: *mut Slot,
    fuel: i64,
    epoch: u64,
    entry: u64,
}

const REGS_OFFSET: i32 = 0;
const FUEL_OFFSET: i32 = 8;
const EPOCH_OFFSET: i32 = 16;
const ENTRY_OFFSET: i32 = 24;
const SLOT_BYTES: i32 = size_of::<Slot>() as i32;

/// Returns where the interpreter goes on: the block in the upper half, the instruction in the lower.
type Native = unsafe extern "C" fn(*mut Context) -> u64;

struct Code {
    run: Native,
    /// For each entry: registers that must be without a shadow.
    live: Vec<Option<Box<[u32]>>>,
    /// Registers that native code may write.
    written: Box<[u32]>,
    cool_down: u32,
    n_futile: u32,
}

enum Translation {
    Cold(u32),
    Ready(Box<Code>),
    Never,
}

/// The translations of one machine.
pub struct Compiler {
    functions: Vec<Translation>,
    module: Option<JITModule>,
    context: FunctionBuilderContext,
    n_translated: u32,
}

impl Compiler {
    /// `None` where nothing may be translated: code that checks more than the interpreter's fast path does, or a host
    /// without native code generation.
    pub fn new(image: &Image) -> Option<Compiler> {
        let checks = &image.checks;
        if !image.world.compile || checks.overflow || checks.shift {
            return None;
        }
        let mut flags = settings::builder();
        flags.set("opt_level", "speed").ok()?;
        flags.set("enable_verifier", "false").ok()?;
        let isa = cranelift_native::builder().ok()?.finish(settings::Flags::new(flags)).ok()?;
        let module = JITModule::new(JITBuilder::with_isa(isa, cranelift_module::default_libcall_names()));
        let functions = image.module.functions.iter().map(|_| Translation::Cold(0)).collect();
        Some(Compiler { functions, module: Some(module), context: FunctionBuilderContext::new(), n_translated: 0 })
    }

    /// Takes note of a back edge, and runs native code from its target if there is any and nothing symbolic is live.
    /// Returns whether the frame has moved.
    pub fn enter(&mut self, image: &Image, seen: &[bool], tlb: &Tlb, frame: &mut Frame, fuel: &mut i64) -> bool {
        let func = frame.func;
        match &mut self.functions[func.idx()] {
            Translation::Never => return false,
            Translation::Cold(heat) if *heat < HOT => {
                *heat += 1;
                return false;
            }
            Translation::Cold(_) => {
                let translation = self.translate(image, seen, tlb, func);
                self.functions[func.idx()] = translation;
            }
            Translation::Ready(_) => {}
        }
        let Translation::Ready(code) = &mut self.functions[func.idx()] else { return false };
        if code.cool_down > 0 {
            code.cool_down -= 1;
            return false;
        }
        let Some(live) = &code.live[frame.block.idx()] else { return false };
        if !frame.control.is_empty() || live.iter().any(|slot| !frame.regs[*slot as usize].shadow.is_none()) {
            code.cool_down = COOL_DOWN;
            return false;
        }
        for slot in &code.written {
            frame.regs[*slot as usize].shadow = Shadow::NONE;
        }
        let mut context = Context {
            regs: frame.regs.as_mut_ptr(),
            fuel: *fuel,
            epoch: u64::from(tlb.epoch()),
            entry: u64::from(frame.block.0),
        };
        // SAFETY: the code was generated for this function from a verified module: it reads and writes slots of `regs`
        // below the function's `n_slots` only, and memory through entries of this `tlb` of the current epoch.
        let place = unsafe { (code.run)(&mut context) };
        if *fuel - context.fuel < FUTILE_FUEL {
            code.n_futile += 1;
        }
        let give_up = code.n_futile > MAX_FUTILE;
        *fuel = context.fuel;
        frame.block = BlockId((place >> 32) as u32);
        frame.inst_idx = place as u32;
        if give_up {
            self.functions[func.idx()] = Translation::Never;
        }
        true
    }

    fn translate(&mut self, image: &Image, seen: &[bool], tlb: &Tlb, func: FuncId) -> Translation {
        let function = image.module.function(func);
        let n_insts: usize = function.blocks.iter().map(|block| block.insts.len() + 1).sum();
        let Some(module) = self.module.as_mut().filter(|_| n_insts <= MAX_INSTS) else { return Translation::Never };
        let mut context = module.make_context();
        let config = module.target_config();
        let pointer = config.pointer_type();
        context.func.signature.params.push(AbiParam::new(pointer));
        context.func.signature.returns.push(AbiParam::new(types::I64));
        let entries = loop_heads(function);
        let builder = FunctionBuilder::new(&mut context.func, &mut self.context);
        Translator::new(builder, image, func, seen, tlb, pointer).translate(&entries, config);
        self.n_translated += 1;
        let name = format!("f{}", self.n_translated);
        let signature = context.func.signature.clone();
        let Ok(id) = module.declare_function(&name, cranelift_module::Linkage::Local, &signature) else {
            return Translation::Never;
        };
        if module.define_function(id, &mut context).is_err() || module.finalize_definitions().is_err() {
            return Translation::Never;
        }
        // SAFETY: the code at that address was generated with this signature and lives as long as the module.
        let run: Native = unsafe { std::mem::transmute(module.get_finalized_function(id)) };
        let (live, written) = (liveness(image, function, &entries), written(image, function));
        Translation::Ready(Box::new(Code { run, live, written, cool_down: 0, n_futile: 0 }))
    }
}

impl Drop for Compiler {
    fn drop(&mut self) {
        if let Some(module) = self.module.take() {
            // SAFETY: no code of it runs any more, and no pointer into it outlives the compiler.
            unsafe { module.free_memory() };
        }
    }
}

/// Targets of edges that go back, in the order of blocks.
fn loop_heads(function: &Function) -> Vec<BlockId> {
    let mut is_head = vec![false; function.blocks.len()];
    for (idx, block) in function.blocks.iter().enumerate() {
        for edge in block.terminator.edges() {
            is_head[edge.target.idx()] |= edge.target.idx() <= idx;
        }
    }
    is_head.iter().enumerate().filter(|(_, is_head)| **is_head).map(|(idx, _)| BlockId::new(idx)).collect()
}

/// Slots that some instruction or edge writes.
fn written(image: &Image, function: &Function) -> Box<[u32]> {
    let mut slots = Vec::new();
    for block in &function.blocks {
        for inst in &block.insts {
            function.for_each_def(inst, image.pointer_bits(), |reg, _| slots.push(reg.0));
        }
        for edge in block.terminator.edges() {
            slots.extend(edge.moves.iter().map(|step| step.dst.0));
        }
    }
    slots.sort_unstable();
    slots.dedup();
    // The upper halves of wide values carry no shadow.
    slots.into()
}

/// For each entry the slots read before they are written. A register that is written by native code and not live at the
/// entry is dead there, so its shadow may be cleared.
fn liveness(image: &Image, function: &Function, entries: &[BlockId]) -> Vec<Option<Box<[u32]>>> {
    let n_slots = function.n_slots as usize;
    let mut live_in = vec![vec![false; n_slots]; function.blocks.len()];
    let mut changed = true;
    while changed {
        changed = false;
        for (idx, block) in function.blocks.iter().enumerate().rev() {
            let mut live = vec![false; n_slots];
            for edge in block.terminator.edges() {
                let mut at_edge = live_in[edge.target.idx()].clone();
                for step in edge.moves.iter().rev() {
                    at_edge[step.dst.idx()] = false;
                    at_edge[step.src.idx()] = true;
                }
                live.iter_mut().zip(at_edge).for_each(|(live, there)| *live |= there);
            }
            function.for_each_terminator_use(&block.terminator, image.pointer_bits(), |reg, _| live[reg.idx()] = true);
            for inst in block.insts.iter().rev() {
                function.for_each_def(inst, image.pointer_bits(), |reg, _| live[reg.idx()] = false);
                function.for_each_use(inst, image.pointer_bits(), |reg, _| live[reg.idx()] = true);
            }
            if live != live_in[idx] {
                live_in[idx] = live;
                changed = true;
            }
        }
    }
    let mut lists = vec![None; function.blocks.len()];
    for entry in entries {
        let live = &live_in[entry.idx()];
        let slots: Vec<u32> = (0..function.n_slots).filter(|slot| live[*slot as usize]).collect();
        lists[entry.idx()] = Some(slots.into());
    }
    lists
}
