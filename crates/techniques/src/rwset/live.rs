//! Which registers of a frame may still be read by something that can be seen.

use std::rc::Rc;

use analysis::{Faults, Liveness, Readers};
use ir::{BlockId, FuncId, Module};
use rustc_hash::FxHashMap;
use vm::{Frame, Returns, State};

use super::compare::Slots;
use super::visit::PointKey;

/// Where a frame stands.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Stands {
    /// The instruction is still to be executed.
    Before,
    /// It is a call under way.
    InCall,
}

#[derive(Default)]
pub struct Live {
    functions: FxHashMap<FuncId, Liveness>,
    known: FxHashMap<(FuncId, BlockId, u32, Stands), Rc<[u32]>>,
    by_point: FxHashMap<PointKey, Point>,
}

/// What is live at a point, and its frames: a key does not identify them.
struct Point {
    frames: Vec<(FuncId, BlockId, u32, Returns)>,
    has_jumps: bool,
    slots: Rc<Slots>,
}

impl Point {
    fn is_of(&self, state: &State) -> bool {
        let is_same = |(frame, known): (&Frame, &(FuncId, BlockId, u32, Returns))| {
            (frame.func, frame.block, frame.inst_idx, frame.returns) == *known
        };
        self.has_jumps == state.jumps.is_some()
            && self.frames.len() == state.depth as usize
            && state.frames().zip(&self.frames).all(is_same)
    }
}

impl Live {
    /// Slots of each frame of a state at a point, from the top down.
    pub fn at(&mut self, key: PointKey, module: &Module, state: &State, faults: Faults) -> Rc<Slots> {
        if let Some(point) = self.by_point.get(&key).filter(|point| point.is_of(state)) {
            return point.slots.clone();
        }
        let slots = Rc::new(self.of_state(module, state, faults));
        let frames = state.frames().map(|frame| (frame.func, frame.block, frame.inst_idx, frame.returns)).collect();
        self.by_point.insert(key, Point { frames, has_jumps: state.jumps.is_some(), slots: slots.clone() });
        slots
    }

    fn of_state(&mut self, module: &Module, state: &State, faults: Faults) -> Vec<Rc<[u32]>> {
        let mut above: Option<Returns> = None;
        let has_jumps = state.jumps.is_some();
        let mut all = Vec::with_capacity(state.depth as usize);
        for frame in state.frames() {
            // A jump may go back to before the call.
            let stands = match above {
                Some(Returns::ToCall) if !has_jumps => Stands::InCall,
                _ => Stands::Before,
            };
            let mut slots = self.slots(module, frame, stands, faults);
            if has_jumps && above == Some(Returns::ToCall) {
                let behind = self.slots(module, frame, Stands::InCall, faults);
                slots = slots.iter().chain(behind.iter()).copied().collect();
            }
            all.push(slots);
            above = Some(frame.returns);
        }
        all
    }

    fn slots(&mut self, module: &Module, frame: &Frame, stands: Stands, faults: Faults) -> Rc<[u32]> {
        let at = (frame.func, frame.block, frame.inst_idx, stands);
        if let Some(slots) = self.known.get(&at) {
            return slots.clone();
        }
        let readers = Readers::Observable { faults };
        let liveness =
            self.functions.entry(frame.func).or_insert_with(|| Liveness::for_readers(module, frame.func, readers));
        let function = module.function(frame.func);
        let idx = frame.inst_idx as usize;
        let slots: Rc<[u32]> = match stands {
            Stands::Before => {
                liveness.live_before(function, frame.block, idx).iter().map(|reg| reg.idx() as u32).collect()
            }
            Stands::InCall => {
                let insts = &function.block(frame.block).insts;
                let mut results = Vec::new();
                if let Some(inst) = insts.get(idx) {
                    function.for_each_def(inst, module.target.pointer_bits(), |reg, bits| {
                        results.extend((0..ir::slots_of(bits)).map(|high| reg.idx() as u32 + high));
                    });
                }
                let behind = (idx + 1).min(insts.len());
                let live = liveness.live_before(function, frame.block, behind);
                live.iter().map(|reg| reg.idx() as u32).filter(|slot| !results.contains(slot)).collect()
            }
        };
        self.known.insert(at, slots.clone());
        slots
    }
}
