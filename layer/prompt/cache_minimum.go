package prompt

// cacheMinimums are the sizes from which on a provider creates caches, in estimated tokens.
type cacheMinimums struct {
	initial int
	learned map[string]int // by model
}

// of returns the minimum of a model.
func (m *cacheMinimums) of(model string) int {
	if learned, ok := m.learned[model]; ok {
		return learned
	}
	return m.initial
}

// learn notes that a provider has refused a cache as too small, and returns the new minimum. total and
// minimum are the provider's numbers, 0 if it gave none. For an estimate of 5,000 tokens that the provider
// counts as 4,000, with a minimum of 4,096, the new minimum is an estimate of 5,120.
func (m *cacheMinimums) learn(model string, estimate, total, minimum int) int {
	learned := estimate + 1
	switch {
	case total > 0 && minimum > total:
		learned = max(learned, int(int64(minimum)*int64(estimate)/int64(total)))
	case minimum > 0:
		learned = max(learned, minimum)
	}
	if len(m.learned) >= maxCacheKeys {
		clear(m.learned)
	}
	m.learned[model] = learned
	return learned
}
