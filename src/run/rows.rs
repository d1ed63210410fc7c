//! Which rows of a stage's columns are meant, and in what order.

use std::fmt;

use super::Column;

/// Rows of a stage's tasks in a certain order, in as few bytes each as the last of them needs: a run has as many as tasks.
#[derive(Clone, Default)]
pub struct Rows(Column);

impl Rows {
    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The row at the front.
    pub fn first(&self) -> Option<usize> {
        self.iter().next()
    }

    /// All rows in their order.
    pub fn iter(&self) -> impl Iterator<Item = usize> + Clone {
        self.0.iter().map(row)
    }

    /// For each of so many tasks, whether its row is among these.
    pub fn among(&self, tasks: usize) -> Vec<bool> {
        let mut among = vec![false; tasks];
        for row in self.iter() {
            if let Some(chosen) = among.get_mut(row) {
                *chosen = true;
            }
        }
        among
    }
}

/// A row was a `usize` before it went into the column.
fn row(value: u64) -> usize {
    usize::try_from(value).unwrap_or(usize::MAX)
}

impl FromIterator<usize> for Rows {
    fn from_iter<I: IntoIterator<Item = usize>>(rows: I) -> Self {
        Self(rows.into_iter().map(|row| row as u64).collect())
    }
}

impl PartialEq for Rows {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl PartialEq<[usize]> for Rows {
    fn eq(&self, other: &[usize]) -> bool {
        self.iter().eq(other.iter().copied())
    }
}

impl<const N: usize> PartialEq<[usize; N]> for Rows {
    fn eq(&self, other: &[usize; N]) -> bool {
        *self == other[..]
    }
}

impl fmt::Debug for Rows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn which_tasks_are_among_the_rows() {
        let rows: Rows = [3, 0].into_iter().collect();
        assert_eq!(rows.among(5), [true, false, false, true, false]);
        assert_eq!(rows.among(2), [true, false]);
        assert_eq!((rows.first(), Rows::default().first()), (Some(3), None));
    }

    proptest! {
        #[test]
        fn rows_are_a_vector(given in prop::collection::vec(any::<usize>(), 0..100)) {
            prop_assert_eq!(&given.iter().copied().collect::<Rows>(), &given[..]);
        }
    }
}
