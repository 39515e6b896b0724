//! Boolean gates as clauses, each distinct gate once, with constants folded.

use super::sat::{Lit, Sat, Var};
use rustc_hash::FxHashMap;

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Gate {
    And(Lit, Lit),
    Xor(Lit, Lit),
    Mux(Lit, Lit, Lit),
    Majority(Lit, Lit, Lit),
}

/// What a variable is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Free,
    /// All of its inputs hold.
    All,
    Xor,
    /// The second input where the first holds, else the third.
    Mux,
    Majority,
}

impl Kind {
    /// The clauses that make `out` this gate of these inputs.
    fn define(self, out: Lit, inputs: &[Lit], mut clause: impl FnMut(&[Lit])) {
        match (self, inputs) {
            (Kind::All, _) => {
                inputs.iter().for_each(|&lit| clause(&[!out, lit]));
                let mut whole: Vec<Lit> = inputs.iter().map(|&lit| !lit).collect();
                whole.push(out);
                clause(&whole);
            }
            (Kind::Xor, &[a, b]) => {
                clause(&[!out, a, b]);
                clause(&[!out, !a, !b]);
                clause(&[out, !a, b]);
                clause(&[out, a, !b]);
            }
            (Kind::Mux, &[c, a, b]) => {
                clause(&[!c, !a, out]);
                clause(&[!c, a, !out]);
                clause(&[c, !b, out]);
                clause(&[c, b, !out]);
                // Redundant, but they let an output follow when both arms agree.
                clause(&[!a, !b, out]);
                clause(&[a, b, !out]);
            }
            (Kind::Majority, &[a, b, c]) => {
                for (x, y) in [(a, b), (a, c), (b, c)] {
                    clause(&[!x, !y, out]);
                    clause(&[x, y, !out]);
                }
            }
            _ => {}
        }
    }
}

/// The formula: a SAT solver in which every variable is a free input or the output of one gate.
pub struct Gates {
    pub sat: Sat,
    known: FxHashMap<Gate, Lit>,
    /// For each variable, where its inputs start in `inputs`; they end where the next one's start.
    input_starts: Vec<u32>,
    inputs: Vec<Lit>,
    kinds: Vec<Kind>,
    visited: Vec<u32>,
    visit: u32,
}

impl Gates {
    pub fn new() -> Gates {
        let mut gates = Gates {
            sat: Sat::new(),
            known: FxHashMap::default(),
            input_starts: vec![0],
            inputs: Vec::new(),
            kinds: Vec::new(),
            visited: Vec::new(),
            visit: 0,
        };
        let truth = gates.input();
        gates.sat.add_clause(&[truth]);
        gates
    }

    /// The literal that is always true: variable 0.
    pub fn tru(&self) -> Lit {
        Var(0).lit()
    }

    pub fn fls(&self) -> Lit {
        !self.tru()
    }

    pub fn constant(&self, value: bool) -> Lit {
        self.tru().negated_if(!value)
    }

    fn known_value(&self, lit: Lit) -> Option<bool> {
        (lit.var() == Var(0)).then(|| lit == self.tru())
    }

    /// A free variable.
    pub fn input(&mut self) -> Lit {
        self.gate(Kind::Free, &[])
    }

    fn gate(&mut self, kind: Kind, inputs: &[Lit]) -> Lit {
        let out = self.sat.new_var().lit();
        self.inputs.extend_from_slice(inputs);
        self.input_starts.push(self.inputs.len() as u32);
        self.kinds.push(kind);
        self.visited.push(0);
        kind.define(out, inputs, |clause| self.sat.add_clause(clause));
        out
    }

    fn inputs_of(&self, var: Var) -> &[Lit] {
        &self.inputs[self.input_starts[var.index()] as usize..self.input_starts[var.index() + 1] as usize]
    }

    /// The clauses that define a variable.
    pub fn definition(&self, var: Var, mut clause: impl FnMut(&[Lit])) {
        if var == Var(0) {
            return clause(&[self.tru()]);
        }
        self.kinds[var.index()].define(var.lit(), self.inputs_of(var), clause);
    }

    pub fn and(&mut self, a: Lit, b: Lit) -> Lit {
        match (self.known_value(a), self.known_value(b)) {
            (Some(true), _) => return b,
            (_, Some(true)) => return a,
            (Some(false), _) | (_, Some(false)) => return self.fls(),
            _ => {}
        }
        if a == b {
            return a;
        }
        if a == !b {
            return self.fls();
        }
        let key = Gate::And(a.min(b), a.max(b));
        if let Some(&out) = self.known.get(&key) {
            return out;
        }
        let out = self.gate(Kind::All, &[a, b]);
        self.known.insert(key, out);
        out
    }

    pub fn or(&mut self, a: Lit, b: Lit) -> Lit {
        !self.and(!a, !b)
    }

    pub fn xor(&mut self, a: Lit, b: Lit) -> Lit {
        match (self.known_value(a), self.known_value(b)) {
            (Some(value), _) => return b.negated_if(value),
            (_, Some(value)) => return a.negated_if(value),
            _ => {}
        }
        // Negations of inputs are moved to the output, so that all four polarities share a gate.
        let flip = a.is_negated() ^ b.is_negated();
        let (a, b) = (a.var().lit(), b.var().lit());
        if a == b {
            return self.constant(flip);
        }
        let key = Gate::Xor(a.min(b), a.max(b));
        if let Some(&out) = self.known.get(&key) {
            return out.negated_if(flip);
        }
        let out = self.gate(Kind::Xor, &[a, b]);
        self.known.insert(key, out);
        out.negated_if(flip)
    }

    /// `a` where `c` holds, else `b`.
    pub fn mux(&mut self, c: Lit, a: Lit, b: Lit) -> Lit {
        if let Some(value) = self.known_value(c) {
            return if value { a } else { b };
        }
        if a == b {
            return a;
        }
        if a == !b {
            return self.xor(c, b);
        }
        // In the arm taken where `c` holds, `c` itself is true.
        if self.known_value(a) == Some(true) || a == c {
            return self.or(c, b);
        }
        if self.known_value(a) == Some(false) || a == !c {
            return self.and(!c, b);
        }
        if self.known_value(b) == Some(true) || b == !c {
            return self.or(!c, a);
        }
        if self.known_value(b) == Some(false) || b == c {
            return self.and(c, a);
        }
        let (c, a, b) = if c.is_negated() { (!c, b, a) } else { (c, a, b) };
        let key = Gate::Mux(c, a, b);
        if let Some(&out) = self.known.get(&key) {
            return out;
        }
        let out = self.gate(Kind::Mux, &[c, a, b]);
        self.known.insert(key, out);
        out
    }

    /// Whether at least two of the three hold: the carry of an adder.
    pub fn majority(&mut self, a: Lit, b: Lit, c: Lit) -> Lit {
        let mut sorted = [a, b, c];
        sorted.sort_unstable();
        let [a, b, c] = sorted; // the constant, if any, is first: its variable is 0
        if let Some(value) = self.known_value(a) {
            return if value { self.or(b, c) } else { self.and(b, c) };
        }
        if a == b || b == c {
            return b;
        }
        if a == !b {
            return c;
        }
        if b == !c {
            return a;
        }
        let key = Gate::Majority(a, b, c);
        if let Some(&out) = self.known.get(&key) {
            return out;
        }
        let out = self.gate(Kind::Majority, &[a, b, c]);
        self.known.insert(key, out);
        out
    }

    /// Whether all hold; one gate however many they are.
    pub fn all(&mut self, lits: &[Lit]) -> Lit {
        let mut open: Vec<Lit> = lits.iter().copied().filter(|&lit| lit != self.tru()).collect();
        open.sort_unstable();
        open.dedup();
        if open.contains(&self.fls()) || open.windows(2).any(|pair| pair[0] == !pair[1]) {
            return self.fls();
        }
        match open[..] {
            [] => self.tru(),
            [one] => one,
            [a, b] => self.and(a, b),
            _ => self.gate(Kind::All, &open),
        }
    }

    /// What every variable is when the free ones are as given.
    #[cfg(test)]
    pub fn simulate(&self, free: impl Fn(Var) -> bool) -> Vec<bool> {
        let mut values: Vec<bool> = Vec::with_capacity(self.kinds.len());
        for (idx, kind) in self.kinds.iter().enumerate() {
            let var = Var(idx as u32);
            let inputs: Vec<bool> =
                self.inputs_of(var).iter().map(|lit| values[lit.var().index()] != lit.is_negated()).collect();
            values.push(match (kind, &inputs[..]) {
                (Kind::Free, _) => idx == 0 || free(var),
                (Kind::All, inputs) => inputs.iter().all(|&input| input),
                (Kind::Xor, inputs) => inputs[0] != inputs[1],
                (Kind::Mux, inputs) => inputs[if inputs[0] { 1 } else { 2 }],
                (Kind::Majority, inputs) => inputs.iter().filter(|&&input| input).count() >= 2,
            });
        }
        values
    }

    /// The roots and everything they are made of.
    pub fn cone(&mut self, roots: &[Lit]) -> Vec<Var> {
        self.visit += 1;
        let mut cone = Vec::new();
        for root in roots {
            self.enter(root.var(), &mut cone);
        }
        let mut next = 0;
        while next < cone.len() {
            let Var(var) = cone[next];
            next += 1;
            for i in self.input_starts[var as usize]..self.input_starts[var as usize + 1] {
                self.enter(self.inputs[i as usize].var(), &mut cone);
            }
        }
        cone
    }

    fn enter(&mut self, var: Var, cone: &mut Vec<Var>) {
        if self.visited[var.index()] != self.visit {
            self.visited[var.index()] = self.visit;
            cone.push(var);
        }
    }
}
