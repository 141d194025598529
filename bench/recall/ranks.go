package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// finder returns the messages of a history that fit a query best, the best first. -1 is an event that is no message.
type finder func(ctx context.Context, query string) ([]int, error)

// ranks are how well the evidence of the questions of a set was found.
type ranks struct {
	questions int
	sums      [len(depths)]float64
	// first are the first five messages for each question.
	first [][]int
	// missed are the questions with evidence that is not among the first five.
	missed []string
}

// depths are the numbers of hits after which is counted.
var depths = [...]int{1, 5, 10}

// at is the mean share of a question's evidence among the first hits, in percent. which is an index of depths.
func (r ranks) at(which int) float64 { return percent(r.sums[which], r.questions) }

// sameFirst is the share of questions for which two found the same first five, in percent.
func (r ranks) sameFirst(o ranks) float64 {
	same := 0
	for i := range r.first {
		if i < len(o.first) && slices.Equal(r.first[i], o.first[i]) {
			same++
		}
	}
	return percent(float64(same), r.questions)
}

func percent(part float64, of int) float64 {
	if of == 0 {
		return 0
	}
	return 100 * part / float64(of)
}

// opener prepares a history for questions, and returns what ends that.
type opener func(context.Context, *history) (find finder, end func() error, err error)

// rank asks all questions of a set.
func rank(ctx context.Context, s set, open opener) (all ranks, err error) {
	for _, h := range s.histories {
		if err := all.history(ctx, h, open); err != nil {
			return ranks{}, fmt.Errorf("%s: %w", h.name, err)
		}
	}
	return all, nil
}

func (r *ranks) history(ctx context.Context, h *history, open opener) (err error) {
	find, end, err := open(ctx, h)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, end()) }()
	for _, q := range h.questions {
		found, err := find(ctx, q.text)
		if err != nil {
			return fmt.Errorf("question %s: %w", q.name, err)
		}
		r.add(q, found)
	}
	return nil
}

func (r *ranks) add(q question, found []int) {
	r.questions++
	for i, depth := range depths {
		hits := 0
		for _, e := range q.evidence {
			if slices.Contains(found[:min(depth, len(found))], e) {
				hits++
			}
		}
		r.sums[i] += float64(hits) / float64(len(q.evidence))
		if depth == 5 && hits < len(q.evidence) {
			r.missed = append(r.missed, q.name)
		}
	}
	r.first = append(r.first, slices.Clone(found[:min(5, len(found))]))
}
