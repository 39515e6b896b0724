//! Which object an access means: the one that its address was computed from.
//!
//! A concrete address says nothing about that. An index far outside of an array may well hit another object, and the access
//! would look right. So for each access, the instructions before it in its block are gone back through once for the program. Where
//! its site meets an object for the first time, that way leads to the pointer that the address was computed from. If that points into a live object and the access
//! lies outside of it, it is out of bounds, whatever lies there.

use ir::{BinOp, Function, Inst, Reg};
use rustc_hash::FxHashMap;

use crate::memory::INPUTS;
use crate::run::{Machine, Step};
use crate::value::mask64;
use crate::{Access, Liveness, State, Value};

/// Of the accesses of a function whose address is computed in their own block: the way back. Most accesses are not among them.
pub(crate) struct WaysBack(Box<[(u64, Box<[Back]>)]>);

/// One instruction back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Back {
    /// `index * scale` was added to `base`; each of the registers if it still holds what it held.
    Index {
        index: Option<Reg>,
        index_bits: u8,
        scale: u64,
        base: Option<Reg>,
    },
    Add(u64),
}

/// Longer ways are not gone: each access has one of its own.
const MAX_STEPS: usize = 32;

impl WaysBack {
    pub fn new(function: &Function, pointer_bits: u8) -> WaysBack {
        let mut ways = Vec::new();
        for (block_idx, block) in function.blocks.iter().enumerate() {
            let mut seen = Seen::default();
            for (inst_idx, inst) in block.insts.iter().enumerate() {
                if let Inst::Load { addr, .. } | Inst::Store { addr, .. } = *inst {
                    let way = seen.way_back(addr);
                    ways.extend((!way.is_empty()).then(|| (key(block_idx, inst_idx), way.into_boxed_slice())));
                }
                seen.add(function, inst, pointer_bits);
            }
        }
        WaysBack(ways.into_boxed_slice())
    }

    fn of(&self, block_idx: usize, inst_idx: usize) -> Option<&[Back]> {
        let at = self.0.binary_search_by_key(&key(block_idx, inst_idx), |(key, _)| *key).ok()?;
        Some(&self.0[at].1)
    }
}

/// In the order in which a function lists its instructions.
fn key(block_idx: usize, inst_idx: usize) -> u64 {
    (block_idx as u64) << 32 | inst_idx as u64
}

/// A register, and which of its values it had: the how-many-th instruction of the block made it, if one did.
type Was = (Reg, Option<usize>);

/// How an instruction made an address.
#[derive(Clone, Copy)]
enum Made {
    Copy(Was),
    Index {
        base: Was,
        index: Was,
        index_bits: u8,
        scale: u64,
    },
    Add(Was, u64),
    /// From nothing else in a register.
    Constant(u64),
    Otherwise,
}

/// The instructions of a block so far.
#[derive(Default)]
struct Seen {
    made: Vec<Made>,
    /// Which of them made what a register holds now.
    last: FxHashMap<Reg, usize>,
}

impl Seen {
    fn now(&self, reg: Reg) -> Was {
        (reg, self.last.get(&reg).copied())
    }

    fn add(&mut self, function: &Function, inst: &Inst, pointer_bits: u8) {
        let made = match *inst {
            Inst::Copy { src, .. } => Made::Copy(self.now(src)),
            Inst::Index { base, index, index_bits, scale, .. } => {
                Made::Index { base: self.now(base), index: self.now(index), index_bits, scale }
            }
            Inst::BinImm { op: BinOp::Add, bits, a, imm, .. } if bits == pointer_bits => Made::Add(self.now(a), imm),
            // A constant may lie outside of its object: clang adds up `a - 100 + i` in either order.
            Inst::Address { addend, .. } => Made::Constant(addend as u64),
            _ => Made::Otherwise,
        };
        let number = self.made.len();
        self.made.push(made);
        function.for_each_def(inst, pointer_bits, |reg, _| _ = self.last.insert(reg, number));
    }

    /// How the address in a register was computed, last step first, as far back as this block tells.
    fn way_back(&self, addr: Reg) -> Vec<Back> {
        let kept = |was: Was| (self.now(was.0) == was).then_some(was.0);
        let (mut at, mut way) = (self.now(addr), Vec::new());
        while let (_, Some(number)) = at {
            at = match self.made[number] {
                Made::Copy(src) => src,
                Made::Index { base, index, index_bits, scale } => {
                    way.push(Back::Index { index: kept(index), index_bits, scale, base: kept(base) });
                    base
                }
                Made::Add(a, imm) => {
                    way.push(Back::Add(imm));
                    a
                }
                Made::Constant(addend) => {
                    way.extend((addend != 0).then_some(Back::Add(addend)));
                    break;
                }
                Made::Otherwise => break,
            };
            if way.len() > MAX_STEPS {
                return Vec::new();
            }
        }
        way
    }
}

impl Machine<'_> {
    /// The fault of an access whose address was computed from a pointer into another object.
    pub(crate) fn stays_in_object(&self, state: &State, addr: Value, bytes: u64, access: Access) -> Step<()> {
        if addr.term().is_some() || !self.image.checks.memory {
            return Ok(());
        }
        let addr = addr.bits as u64;
        let Some(start) = self.start_of(state, addr) else { return Ok(()) };
        // No other object is as near as that.
        if addr.abs_diff(start) < self.image.gap || INPUTS.contains(&addr) || INPUTS.contains(&start) {
            return Ok(());
        }
        let meant = state.memory.find(start).map(|object| state.memory.get(object));
        match meant.filter(|object| object.liveness == Liveness::Alive && object.layers().is_none()) {
            Some(object) if !object.contains(addr, bytes) => {
                let (kind, message) = self.diagnose_outside(state, addr, bytes, access, start);
                Err(self.fault_at(state, addr, Some((access, bytes)), kind, message))
            }
            _ => Ok(()),
        }
    }

    /// The pointer that the address of the running access was computed from.
    fn start_of(&self, state: &State, addr: u64) -> Option<u64> {
        let top = &state.top;
        let way = self.image.ways_back[top.func.idx()].of(top.block.idx(), top.inst_idx as usize)?;
        let pointer_bits = self.image.pointer_bits();
        let (mut value, mut is_computed) = (addr, false);
        for back in way {
            value = match *back {
                Back::Add(imm) => value.wrapping_sub(imm) & mask64(pointer_bits),
                Back::Index { index, index_bits, scale, base } => {
                    let steps = index.map(|index| top.value(index, index_bits)).filter(|steps| steps.term().is_none());
                    match (steps, base) {
                        (Some(steps), _) => {
                            let steps = term::fold::signed(steps.bits, u32::from(index_bits)) as u64;
                            value.wrapping_sub(steps.wrapping_mul(scale)) & mask64(pointer_bits)
                        }
                        (None, Some(base)) => top.value(base, pointer_bits).bits as u64,
                        (None, None) => break,
                    }
                }
            };
            is_computed = true;
        }
        is_computed.then_some(value)
    }
}
