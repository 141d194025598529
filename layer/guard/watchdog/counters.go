package watchdog

// counters finds results that differ only in a number that counts the calls, such as that of a request. For the signals they
// are alike.
type counters struct {
	last  [remembered]counted // the newest at position count-1
	count int
}

// counted is what is kept of a call with a result.
type counted struct {
	call, shape, like uint64
	numbers           int64
	grows             int64 // with each call that was alike; 0 is not known yet, below 0 it does not
}

// equate makes calls alike that differ only in a counter. A number is one if it grows by as many each time, and by no more
// than calls were made: what is done grows as it likes, and 3 of 40 is no whole number.
func (k *counters) equate(calls []Call) {
	for i := range calls {
		c := &calls[i]
		now := counted{call: c.call, shape: c.Result.shape, like: c.like, numbers: c.Result.numbers}
		for back := range min(k.count, remembered) {
			one := &k.last[(k.count-1-back)%remembered]
			if one.call != now.call || one.shape != now.shape {
				continue
			}
			switch grew := now.numbers - one.numbers; {
			case c.like == one.like || grew == 0:
				now.grows = -1
			case grew > 0 && grew <= int64(back+1) && (one.grows == 0 || one.grows == grew):
				now.like, now.grows = one.like, grew
				c.like = one.like
			}
			break
		}
		k.last[k.count%remembered] = now
		k.count++
	}
}
