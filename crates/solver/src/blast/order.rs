//! The order in which the SAT solver decides variables: a heap by how often they were in conflicts lately.

use super::sat::Var;

/// Which variable to decide next: the most active one of those allowed.
#[derive(Default)]
pub(super) struct Order {
    heap: Vec<Var>,
    /// Place of each variable in the heap, `ABSENT` when not there.
    places: Vec<u32>,
    activity: Vec<f64>,
    step: f64,
    /// The question for which a variable may be decided.
    allowed: Vec<u32>,
    question: u32,
}

const ABSENT: u32 = u32::MAX;

impl Order {
    pub(super) fn grow(&mut self) {
        self.places.push(ABSENT);
        self.activity.push(0.0);
        self.allowed.push(0);
        self.step = self.step.max(1.0);
    }

    pub(super) fn restrict(&mut self, scope: &[Var], values: &[i8]) {
        self.question += 1;
        for var in self.heap.drain(..) {
            self.places[var.index()] = ABSENT;
        }
        for &var in scope {
            self.allowed[var.index()] = self.question;
            if values[var.lit().index()] == 0 && self.places[var.index()] == ABSENT {
                self.places[var.index()] = self.heap.len() as u32;
                self.heap.push(var);
            }
        }
        for place in (0..self.heap.len() / 2).rev() {
            self.sink(place);
        }
    }

    pub(super) fn put_back(&mut self, var: Var) {
        if self.allowed[var.index()] == self.question && self.places[var.index()] == ABSENT {
            self.places[var.index()] = self.heap.len() as u32;
            self.heap.push(var);
            self.rise(self.heap.len() - 1);
        }
    }

    pub(super) fn next(&mut self, values: &[i8]) -> Option<Var> {
        while let Some(&top) = self.heap.first() {
            let last = self.heap.pop().expect("the heap has a first");
            self.places[top.index()] = ABSENT;
            if !self.heap.is_empty() {
                self.heap[0] = last;
                self.places[last.index()] = 0;
                self.sink(0);
            }
            if values[top.lit().index()] == 0 {
                return Some(top);
            }
        }
        None
    }

    pub(super) fn bump(&mut self, var: Var) {
        self.activity[var.index()] += self.step;
        if self.activity[var.index()] > 1e100 {
            self.activity.iter_mut().for_each(|activity| *activity *= 1e-100);
            self.step *= 1e-100;
        }
        if self.places[var.index()] != ABSENT {
            self.rise(self.places[var.index()] as usize);
        }
    }

    pub(super) fn decay(&mut self) {
        self.step *= 1.0 / 0.95;
    }

    fn before(&self, a: Var, b: Var) -> bool {
        self.activity[a.index()] > self.activity[b.index()]
    }

    fn put(&mut self, place: usize, var: Var) {
        self.heap[place] = var;
        self.places[var.index()] = place as u32;
    }

    fn rise(&mut self, mut place: usize) {
        let var = self.heap[place];
        while place > 0 {
            let parent = (place - 1) / 2;
            if !self.before(var, self.heap[parent]) {
                break;
            }
            self.put(place, self.heap[parent]);
            place = parent;
        }
        self.put(place, var);
    }

    fn sink(&mut self, mut place: usize) {
        let var = self.heap[place];
        loop {
            let mut child = 2 * place + 1;
            if child >= self.heap.len() {
                break;
            }
            if child + 1 < self.heap.len() && self.before(self.heap[child + 1], self.heap[child]) {
                child += 1;
            }
            if !self.before(self.heap[child], var) {
                break;
            }
            self.put(place, self.heap[child]);
            place = child;
        }
        self.put(place, var);
    }
}
