// Package ledger keeps accounts of what sessions use, in whole numbers. It has no clock, no context and no
// model: callers pass in the time and what a call has used.
//
// An [Account] belongs to a session or to a subtask. A subtask's account has a parent, the account of its
// caller, and all that is charged to it is charged to the parent, too. A [Payer] is an account and a turn of
// it. Before a call it reserves, and afterwards the call is settled or released.
package ledger
