//! The divisors of a number, and which values they leave the factors of a product.
//!
//! `x * y = 2147117569` where nothing wraps around has four solutions; a search that multiplies bit by bit takes as long to find
//! that out as it takes to factor the number. Factoring it takes a microsecond. The same for a number of which the rest is
//! known when an unknown divides it.

use crate::domain::Ranges;
use term::{SymbolId, TermId, Terms, View, fold};

/// Divisors tried one after the other.
const MAX_TRIED: u64 = 1 << 12;
/// Steps of Pollard's search for one divisor.
const MAX_STEPS: u64 = 1 << 18;
/// Numbers with more divisors are left alone.
const MAX_DIVISORS: usize = 1 << 12;

/// What an equation leaves of the symbols in it: a list of values for each. `most` says how large a symbol can be.
pub(crate) fn left_by(
    terms: &Terms,
    condition: TermId,
    most: impl Fn(SymbolId) -> u64,
) -> Option<Vec<(SymbolId, Ranges)>> {
    let View::Eq(t, k) = terms.view(condition) else { return None };
    let wanted = terms.as_const(k)?;
    match terms.view(t) {
        View::Mul(a, b) => {
            let factors = [symbol_in(terms, a)?, symbol_in(terms, b)?];
            let largest = factors.map(|symbol| u128::from(most(symbol)));
            let is_exact = largest[0].checked_mul(largest[1])? <= fold::mask(terms.width(t));
            if wanted == 0 || !is_exact {
                return None;
            }
            let values = as_ranges(&divisors(u64::try_from(wanted).ok()?)?);
            Some(factors.into_iter().map(|symbol| (symbol, values.clone())).collect())
        }
        View::URem(whole, by) => {
            let (whole, by) = (terms.as_const(whole)?, symbol_in(terms, by)?);
            // A rest of zero leaves all divisors; the whole is left by zero and by all that is larger.
            if whole <= wanted {
                return None;
            }
            let mut values = divisors(u64::try_from(whole - wanted).ok()?)?;
            values.retain(|&value| u128::from(value) > wanted);
            Some(vec![(by, as_ranges(&values))])
        }
        _ => None,
    }
}

/// The symbol that a term is, zeros above it left off.
fn symbol_in(terms: &Terms, t: TermId) -> Option<SymbolId> {
    match terms.view(t) {
        View::Symbol(symbol) => Some(symbol),
        View::ZExt(inner) => symbol_in(terms, inner),
        _ => None,
    }
}

fn as_ranges(values: &[u64]) -> Ranges {
    let mut ranges = Ranges::new();
    for &value in values {
        match ranges.last_mut() {
            Some((_, hi)) if *hi + 1 == value => *hi = value,
            _ => ranges.push((value, value)),
        }
    }
    ranges
}

/// All of them in ascending order; `None` where they are not found in a short time. `number` is not zero.
pub(crate) fn divisors(number: u64) -> Option<Vec<u64>> {
    let mut all = vec![1];
    let mut primes = primes_of(number)?;
    primes.sort_unstable();
    for same in primes.chunk_by(|a, b| a == b) {
        let before = all.clone();
        let mut power = 1;
        for prime in same {
            power *= prime;
            all.extend(before.iter().map(|divisor| divisor * power));
        }
        if all.len() > MAX_DIVISORS {
            return None;
        }
    }
    all.sort_unstable();
    Some(all)
}

/// As often as each divides it.
fn primes_of(mut number: u64) -> Option<Vec<u64>> {
    let mut primes = Vec::new();
    for by in 2..MAX_TRIED {
        while number.is_multiple_of(by) {
            primes.push(by);
            number /= by;
        }
    }
    let mut open = vec![number];
    while let Some(number) = open.pop() {
        if number == 1 {
            continue;
        }
        if is_prime(number) {
            primes.push(number);
            continue;
        }
        let divisor = (1..8).find_map(|shift| divisor_of(number, shift))?;
        open.extend([divisor, number / divisor]);
    }
    Some(primes)
}

fn times(a: u64, b: u64, modulus: u64) -> u64 {
    (u128::from(a) * u128::from(b) % u128::from(modulus)) as u64
}

fn power(mut base: u64, mut exponent: u64, modulus: u64) -> u64 {
    let mut power = 1;
    while exponent > 0 {
        if exponent % 2 == 1 {
            power = times(power, base, modulus);
        }
        base = times(base, base, modulus);
        exponent /= 2;
    }
    power
}

/// Miller and Rabin's test; with these bases it is right for all numbers of 64 bits. `number` has no small divisor.
fn is_prime(number: u64) -> bool {
    if number < MAX_TRIED * MAX_TRIED {
        return true;
    }
    let twos = (number - 1).trailing_zeros();
    [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37].into_iter().all(|base| {
        let mut x = power(base, (number - 1) >> twos, number);
        x == 1
            || (0..twos).any(|_| {
                let is_last = x == number - 1;
                x = times(x, x, number);
                is_last
            })
    })
}

/// Pollard's rho: two walks on the same round of numbers, one twice as fast as the other, meet modulo a divisor first.
fn divisor_of(number: u64, shift: u64) -> Option<u64> {
    let step = |x: u64| ((u128::from(x) * u128::from(x) + u128::from(shift)) % u128::from(number)) as u64;
    let (mut slow, mut fast) = (2, 2);
    for _ in 0..MAX_STEPS {
        slow = step(slow);
        fast = step(step(fast));
        let common = common_divisor(slow.abs_diff(fast), number);
        if common == number {
            return None;
        }
        if common > 1 {
            return Some(common);
        }
    }
    None
}

fn common_divisor(mut a: u64, mut b: u64) -> u64 {
    while a != 0 {
        (a, b) = (b % a, a);
    }
    b
}

#[cfg(test)]
mod tests {
    use super::*;
    use term::{Assignment, Eval};

    #[test]
    fn divisors_are_all_there_are() {
        for number in 1..3000 {
            let all: Vec<u64> = (1..=number).filter(|by| number % by == 0).collect();
            assert_eq!(divisors(number), Some(all));
        }
        assert_eq!(divisors(2_147_117_569), Some(vec![1, 46337, 2_147_117_569]));
        // Two primes of 32 bits, and one of 64.
        let (p, q) = (4_294_967_291, 4_294_967_279);
        assert_eq!(divisors(p * q), Some(vec![1, q, p, p * q]));
        assert_eq!(divisors(u64::MAX - 58), Some(vec![1, u64::MAX - 58]));
    }

    /// Every pair of values that satisfies an equation is among those left.
    #[test]
    fn what_is_left_holds_every_solution() {
        let mut terms = Terms::new();
        let (x, y) = (terms.symbol("x", 5), terms.symbol("y", 5));
        let (wide_x, wide_y) = (terms.zext(x, 9), terms.zext(y, 9));
        let product = terms.mul(wide_x, wide_y);
        let mut n_narrowed = 0;
        for wanted in 0..512 {
            let k = terms.constant(wanted, 9);
            let dividend = terms.constant(wanted, 5);
            let rest = terms.urem(dividend, y);
            let seven = terms.constant(7, 5);
            for (condition, most) in [(terms.eq(product, k), 22), (terms.eq(rest, seven), 31)] {
                let Some(left) = left_by(&terms, condition, |_| most) else { continue };
                n_narrowed += 1;
                for input in 0..1024u64 {
                    let mut values = Assignment::new();
                    values.set(SymbolId(0), input & 31);
                    values.set(SymbolId(1), input >> 5);
                    if input & 31 > most || input >> 5 > most || !Eval::new().holds(&terms, &values, condition) {
                        continue;
                    }
                    for (symbol, ranges) in &left {
                        let value = values.get(*symbol);
                        assert!(ranges.iter().any(|&(lo, hi)| lo <= value && value <= hi), "{value} of {wanted}");
                    }
                }
            }
        }
        assert!(n_narrowed > 500, "{n_narrowed}");
    }
}
