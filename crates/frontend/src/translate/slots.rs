//! Gives registers as few slots as their lifetimes allow, and drops copies that this makes idle.
//!
//! Translation hands every value a slot of its own. A frame is copied when a state forks and cleared when a function
//! is called, so its size matters; and the moves on the edges of loops are work done at every turn. Both shrink when
//! values that are never needed at the same time share a slot: first a move's two sides are merged where nothing
//! speaks against it, then slots are given out greedily. This is Chaitin's interference graph without spilling.
//!
//! Not for functions that call `setjmp`: control comes back to a place after which lifetimes, as seen by the ordinary
//! flow, have ended.

use ir::{Block, Call, Callee, Edge, Function, Inst, Move, Reg, Terminator, slots_of};

/// The graph takes the square of this number of bits; functions with more registers stay as they are.
const MAX_REGISTERS: usize = 6000;

pub(super) fn compact(function: &mut Function, pointer_bits: u8) {
    let registers = Registers::collect(function, pointer_bits);
    if registers.n() > MAX_REGISTERS {
        return;
    }
    let live_in = live_sets(function, &registers, pointer_bits);
    let graph = Graph::build(function, &registers, &live_in, pointer_bits);
    let mut classes = Classes::new(registers.n(), graph, function.params.len());
    classes.merge_moves(function, &registers);
    let slots = classes.give_slots(function, &registers);
    let place = |reg: Reg| Reg(slots[registers.number(reg)]);
    // What nothing reads has no slot.
    function.holdings.retain(|holding| registers.has(holding.reg));
    rewrite(function, place);
    let n_used = |(number, slot): (usize, &u32)| slot + registers.n_slots[number];
    function.n_slots = slots.iter().enumerate().map(n_used).max().unwrap_or(0);
}

/// Registers in dense numbers, the parameters first.
struct Registers {
    /// By first slot.
    numbers: Vec<u32>,
    n_slots: Vec<u32>,
}

impl Registers {
    const NONE: u32 = u32::MAX;

    fn collect(function: &Function, pointer_bits: u8) -> Registers {
        let mut registers =
            Registers { numbers: vec![Registers::NONE; function.n_slots as usize], n_slots: Vec::new() };
        for param in &function.params {
            registers.add(param.reg, param.bits);
        }
        for block in &function.blocks {
            for inst in &block.insts {
                function.for_each_def(inst, pointer_bits, |reg, bits| registers.add(reg, bits));
                function.for_each_use(inst, pointer_bits, |reg, bits| registers.add(reg, bits));
            }
            function.for_each_terminator_use(&block.terminator, pointer_bits, |reg, bits| registers.add(reg, bits));
            for m in block.terminator.edges().iter().flat_map(|edge| edge.moves.iter()) {
                registers.add(m.dst, m.bits);
                registers.add(m.src, m.bits);
            }
        }
        registers
    }

    fn add(&mut self, reg: Reg, bits: u8) {
        if self.numbers[reg.idx()] == Registers::NONE {
            self.numbers[reg.idx()] = self.n_slots.len() as u32;
            self.n_slots.push(slots_of(bits));
        }
    }

    fn has(&self, reg: Reg) -> bool {
        self.numbers[reg.idx()] != Registers::NONE
    }

    fn number(&self, reg: Reg) -> usize {
        self.numbers[reg.idx()] as usize
    }

    fn n(&self) -> usize {
        self.n_slots.len()
    }
}

#[derive(Clone, PartialEq)]
struct Bits(Vec<u64>);

impl Bits {
    fn new(n: usize) -> Bits {
        Bits(vec![0; n.div_ceil(64)])
    }

    fn insert(&mut self, i: usize) {
        self.0[i / 64] |= 1 << (i % 64);
    }

    fn remove(&mut self, i: usize) {
        self.0[i / 64] &= !(1 << (i % 64));
    }

    fn contains(&self, i: usize) -> bool {
        self.0[i / 64] >> (i % 64) & 1 != 0
    }

    fn union(&mut self, other: &Bits) {
        for (word, more) in self.0.iter_mut().zip(&other.0) {
            *word |= more;
        }
    }

    fn iter(&self) -> impl Iterator<Item = usize> {
        self.0.iter().enumerate().flat_map(|(idx, word)| {
            let mut rest = *word;
            std::iter::from_fn(move || {
                let bit = (rest != 0).then(|| rest.trailing_zeros() as usize)?;
                rest &= rest - 1;
                Some(idx * 64 + bit)
            })
        })
    }
}

/// A write: the register, what is needed after it, and the source where the write is a copy.
struct Write<'l> {
    register: usize,
    live_after: &'l Bits,
    copy_of: Option<usize>,
}

/// Walks a block backwards from what its successors need; yields what the block needs.
fn walk(
    function: &Function,
    block: &Block,
    registers: &Registers,
    live_in: &[Bits],
    pointer_bits: u8,
    mut on_write: impl FnMut(Write<'_>),
) -> Bits {
    let mut live = Bits::new(registers.n());
    for edge in block.terminator.edges() {
        let mut on_edge = live_in[edge.target.idx()].clone();
        for m in edge.moves.iter().rev() {
            let (dst, src) = (registers.number(m.dst), registers.number(m.src));
            on_write(Write { register: dst, live_after: &on_edge, copy_of: Some(src) });
            on_edge.remove(dst);
            on_edge.insert(src);
        }
        live.union(&on_edge);
    }
    function.for_each_terminator_use(&block.terminator, pointer_bits, |reg, _| live.insert(registers.number(reg)));
    for inst in block.insts.iter().rev() {
        let mut written = Vec::new();
        function.for_each_def(inst, pointer_bits, |reg, _| written.push(registers.number(reg)));
        // Results of one instruction are written together, read or not.
        if written.len() > 1 {
            written.iter().for_each(|register| live.insert(*register));
        }
        let copy_of = match inst {
            Inst::Copy { src, .. } => Some(registers.number(*src)),
            _ => None,
        };
        for register in &written {
            on_write(Write { register: *register, live_after: &live, copy_of });
        }
        written.iter().for_each(|register| live.remove(*register));
        function.for_each_use(inst, pointer_bits, |reg, _| live.insert(registers.number(reg)));
    }
    live
}

fn live_sets(function: &Function, registers: &Registers, pointer_bits: u8) -> Vec<Bits> {
    let mut live_in = vec![Bits::new(registers.n()); function.blocks.len()];
    loop {
        let mut has_changed = false;
        for (idx, block) in function.blocks.iter().enumerate().rev() {
            let live = walk(function, block, registers, &live_in, pointer_bits, |_| {});
            if live != live_in[idx] {
                live_in[idx] = live;
                has_changed = true;
            }
        }
        if !has_changed {
            return live_in;
        }
    }
}

/// Which registers are needed at the same time.
struct Graph(Vec<Bits>);

impl Graph {
    fn build(function: &Function, registers: &Registers, live_in: &[Bits], pointer_bits: u8) -> Graph {
        let n = registers.n();
        let mut graph = Graph(vec![Bits::new(n); n]);
        for block in &function.blocks {
            walk(function, block, registers, live_in, pointer_bits, |write| {
                let Write { register, live_after, copy_of } = write;
                for other in live_after.iter().filter(|other| Some(*other) != copy_of) {
                    graph.connect(register, other);
                }
            });
        }
        let params = 0..function.params.len();
        for param in params.clone() {
            params.clone().for_each(|other| graph.connect(param, other));
            if let Some(live) = live_in.first() {
                live.iter().for_each(|other| graph.connect(param, other));
            }
        }
        graph
    }

    fn connect(&mut self, a: usize, b: usize) {
        if a != b {
            self.0[a].insert(b);
            self.0[b].insert(a);
        }
    }
}

/// Registers that share a slot because a copy joins them.
struct Classes {
    graph: Graph,
    /// The class of each register, named by one of its members.
    class: Vec<usize>,
    members: Vec<Vec<usize>>,
    n_params: usize,
}

impl Classes {
    fn new(n: usize, graph: Graph, n_params: usize) -> Classes {
        Classes { graph, class: (0..n).collect(), members: (0..n).map(|register| vec![register]).collect(), n_params }
    }

    /// Moves that go back are those of loops: they get their wish first.
    fn merge_moves(&mut self, function: &Function, registers: &Registers) {
        for wants_back in [true, false] {
            for (idx, block) in function.blocks.iter().enumerate() {
                for edge in block.terminator.edges() {
                    if (edge.target.idx() <= idx) != wants_back {
                        continue;
                    }
                    for m in &edge.moves {
                        self.merge(registers.number(m.dst), registers.number(m.src), registers);
                    }
                }
            }
        }
    }

    fn merge(&mut self, a: usize, b: usize, registers: &Registers) {
        let (a, b) = (self.class[a], self.class[b]);
        let is_param = |class: usize| self.members[class].iter().any(|member| *member < self.n_params);
        let has_conflict = || self.members[b].iter().any(|member| self.graph.0[a].contains(*member));
        if a == b || registers.n_slots[a] != registers.n_slots[b] || (is_param(a) && is_param(b)) || has_conflict() {
            return;
        }
        let moved = std::mem::take(&mut self.members[b]);
        let row = self.graph.0[b].clone();
        self.graph.0[a].union(&row);
        for member in &moved {
            self.class[*member] = a;
        }
        self.members[a].extend(moved);
        // The others must see the whole class when they ask about it.
        let neighbours: Vec<usize> = self.graph.0[a].iter().map(|register| self.class[register]).collect();
        for neighbour in neighbours {
            let members = self.members[a].clone();
            members.into_iter().for_each(|member| self.graph.0[neighbour].insert(member));
        }
    }

    /// The first slot of each register: parameters keep theirs, the others take the lowest that is free.
    fn give_slots(&self, function: &Function, registers: &Registers) -> Vec<u32> {
        let mut of_class: Vec<Option<u32>> = vec![None; registers.n()];
        for (number, param) in function.params.iter().enumerate() {
            of_class[self.class[number]] = Some(param.reg.0);
        }
        for register in 0..registers.n() {
            let class = self.class[register];
            if of_class[class].is_none() {
                of_class[class] = Some(self.lowest_free(class, &of_class, registers));
            }
        }
        self.class.iter().map(|class| of_class[*class].unwrap_or(0)).collect()
    }

    fn lowest_free(&self, class: usize, of_class: &[Option<u32>], registers: &Registers) -> u32 {
        let mut taken: Vec<bool> = Vec::new();
        for neighbour in self.graph.0[class].iter() {
            let Some(slot) = of_class[self.class[neighbour]] else { continue };
            let end = (slot + registers.n_slots[neighbour]) as usize;
            taken.resize(taken.len().max(end), false);
            taken[slot as usize..end].fill(true);
        }
        let n_wanted = registers.n_slots[class] as usize;
        let is_free = |slot: &usize| (*slot..slot + n_wanted).all(|slot| !taken.get(slot).copied().unwrap_or(false));
        (0..).find(is_free).expect("slots beyond the taken ones are free") as u32
    }
}

fn rewrite(function: &mut Function, place: impl Fn(Reg) -> Reg) {
    let put = |reg: &mut Reg| *reg = place(*reg);
    function.holdings.iter_mut().for_each(|holding| put(&mut holding.reg));
    for call in &mut function.calls {
        rewrite_call(call, &put);
    }
    for block in &mut function.blocks {
        block.insts.iter_mut().for_each(|inst| rewrite_inst(inst, &put));
        rewrite_terminator(&mut block.terminator, &put);
    }
}

fn rewrite_call(call: &mut Call, put: &impl Fn(&mut Reg)) {
    if let Callee::Indirect(reg) = &mut call.callee {
        put(reg);
    }
    call.args.iter_mut().for_each(|arg| put(&mut arg.reg));
    call.results.iter_mut().for_each(|(reg, _)| put(reg));
}

fn rewrite_inst(inst: &mut Inst, put: &impl Fn(&mut Reg)) {
    let each = |regs: &mut [&mut Reg]| regs.iter_mut().for_each(|reg| put(reg));
    match inst {
        Inst::Const { dst, .. } | Inst::WideConst { dst, .. } | Inst::Undef { dst, .. } | Inst::Address { dst, .. } => {
            put(dst);
        }
        Inst::Copy { dst, src, .. } => each(&mut [dst, src]),
        Inst::Bin { dst, a, b, .. }
        | Inst::Cmp { dst, a, b, .. }
        | Inst::BitOp { dst, a, b, .. }
        | Inst::FloatBin { dst, a, b, .. }
        | Inst::FloatCmp { dst, a, b, .. } => each(&mut [dst, a, b]),
        Inst::BinImm { dst, a, .. }
        | Inst::CmpImm { dst, a, .. }
        | Inst::Cast { dst, a, .. }
        | Inst::FloatCast { dst, a, .. } => each(&mut [dst, a]),
        Inst::Select { dst, cond, a, b, .. } => each(&mut [dst, cond, a, b]),
        Inst::Overflow { dst, flag, a, b, .. } => each(&mut [dst, flag, a, b]),
        Inst::FunnelShl { dst, hi, lo, amount, .. } | Inst::FunnelShr { dst, hi, lo, amount, .. } => {
            each(&mut [dst, hi, lo, amount]);
        }
        Inst::Index { dst, base, index, .. } => each(&mut [dst, base, index]),
        Inst::Load { dst, addr, .. } => each(&mut [dst, addr]),
        Inst::Store { src, addr, .. } => each(&mut [src, addr]),
        Inst::Alloca { dst, count, .. } => {
            put(dst);
            count.iter_mut().for_each(put);
        }
        Inst::FloatMath { dst, a, b, c, .. } => each(&mut [dst, a, b, c]),
        // Its registers are in the table of calls.
        Inst::Call { .. } => {}
    }
}

fn rewrite_terminator(terminator: &mut Terminator, put: &impl Fn(&mut Reg)) {
    match terminator {
        Terminator::Jump(edge) => rewrite_edge(edge, put),
        Terminator::Branch { cond, then, other } => {
            put(cond);
            rewrite_edge(then, put);
            rewrite_edge(other, put);
        }
        Terminator::CmpBranch { a, b, then, other, .. } => {
            put(a);
            put(b);
            rewrite_edge(then, put);
            rewrite_edge(other, put);
        }
        Terminator::CmpImmBranch { a, then, other, .. } => {
            put(a);
            rewrite_edge(then, put);
            rewrite_edge(other, put);
        }
        Terminator::Switch { value, cases, default, .. } => {
            put(value);
            cases.iter_mut().for_each(|(_, edge)| rewrite_edge(edge, put));
            rewrite_edge(default, put);
        }
        Terminator::Return(values) => values.iter_mut().for_each(put),
        Terminator::IndirectJump { addr, targets } => {
            put(addr);
            targets.iter_mut().for_each(|(_, edge)| rewrite_edge(edge, put));
        }
        Terminator::Unreachable => {}
    }
}

fn rewrite_edge(edge: &mut Edge, put: &impl Fn(&mut Reg)) {
    let moves = edge.moves.iter().map(|m| {
        let Move { mut dst, mut src, bits } = *m;
        put(&mut dst);
        put(&mut src);
        Move { dst, src, bits }
    });
    edge.moves = moves.filter(|m| m.dst != m.src).collect();
}

#[cfg(test)]
mod tests {
    use ir::{BinOp, BlockId, Param, Slot, SpanId};

    use super::*;

    struct Random(u64);

    impl Random {
        fn below(&mut self, n: u32) -> u32 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            ((self.0 >> 33) as u32) % n
        }
    }

    const N_REGISTERS: u32 = 14;

    fn random_moves(random: &mut Random) -> Box<[Move]> {
        let reg = |random: &mut Random| Reg(random.below(N_REGISTERS));
        (0..random.below(4)).map(|_| Move { dst: reg(random), src: reg(random), bits: 64 }).collect()
    }

    /// Every register is set in the first block, so every later use finds a value.
    fn random_function(random: &mut Random) -> Function {
        let n_blocks = 2 + random.below(5);
        let mut blocks = Vec::new();
        for idx in 0..n_blocks {
            let mut insts: Vec<Inst> = match idx {
                0 => {
                    (2..N_REGISTERS).map(|r| Inst::Const { dst: Reg(r), bits: 64, value: u64::from(r) * 77 }).collect()
                }
                _ => Vec::new(),
            };
            for _ in 0..random.below(6) {
                let mut reg = || Reg(random.below(N_REGISTERS));
                let (dst, a, b) = (reg(), reg(), reg());
                insts.push(Inst::Bin { op: BinOp::Add, bits: 64, nsw: false, dst, a, b });
            }
            let edge = |random: &mut Random| Edge {
                target: BlockId(1 + random.below(n_blocks - 1)),
                moves: random_moves(random),
            };
            let terminator = match random.below(4) {
                0 => Terminator::Return((0..3).map(|_| Reg(random.below(N_REGISTERS))).collect()),
                1 => Terminator::Jump(edge(random)),
                _ => {
                    let (then, other) = (edge(random), edge(random));
                    let a = Reg(random.below(N_REGISTERS));
                    Terminator::CmpImmBranch { op: ir::CmpOp::Ult, bits: 64, a, imm: 2000, then, other }
                }
            };
            let spans = vec![SpanId(0); insts.len() + 1];
            blocks.push(Block { insts, terminator, spans });
        }
        Function {
            name: "random".to_string(),
            params: (0..2).map(|r| Param { reg: Reg(r), bits: 64 }).collect(),
            results: vec![Slot { bits: 64 }; 3],
            variadic: false,
            no_return: false,
            n_slots: N_REGISTERS,
            blocks,
            calls: Vec::new(),
            variables: Vec::new(),
            holdings: Vec::new(),
            file: None,
            line: 0,
            signature: None,
            param_names: Vec::new(),
            is_runtime: false,
            is_static: false,
        }
    }

    /// The results, or the number of blocks passed where the function does not end soon.
    fn run(function: &Function, args: [u64; 2]) -> Result<Vec<u64>, u32> {
        let mut regs = vec![u64::MAX; function.n_slots as usize];
        regs[..2].copy_from_slice(&args);
        let mut block = BlockId(0);
        for _ in 0..200 {
            for inst in &function.block(block).insts {
                match *inst {
                    Inst::Const { dst, value, .. } => regs[dst.idx()] = value,
                    Inst::Bin { dst, a, b, .. } => regs[dst.idx()] = regs[a.idx()].wrapping_add(regs[b.idx()]),
                    _ => unreachable!("not generated"),
                }
            }
            let edge = match &function.block(block).terminator {
                Terminator::Return(values) => return Ok(values.iter().map(|reg| regs[reg.idx()]).collect()),
                Terminator::Jump(edge) => edge,
                Terminator::CmpImmBranch { a, imm, then, other, .. } => {
                    if regs[a.idx()] < *imm {
                        then
                    } else {
                        other
                    }
                }
                _ => unreachable!("not generated"),
            };
            for m in &edge.moves {
                regs[m.dst.idx()] = regs[m.src.idx()];
            }
            block = edge.target;
        }
        Err(200)
    }

    #[test]
    fn sharing_slots_changes_no_result() {
        let mut n_slots_saved = 0;
        for seed in 0..4000 {
            let function = random_function(&mut Random(seed));
            let mut compacted = function.clone();
            compact(&mut compacted, 64);
            n_slots_saved += function.n_slots - compacted.n_slots;
            for args in [[0, 0], [1, 2], [1999, 5], [u64::MAX, 7]] {
                assert_eq!(run(&function, args), run(&compacted, args), "seed {seed}\n{function:?}\n{compacted:?}");
            }
        }
        assert!(n_slots_saved > 4000);
    }
}
