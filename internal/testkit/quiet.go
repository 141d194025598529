package testkit

import "log/slog"

// Quiet makes slog's default logger discard everything. A TestMain calls it: hundreds of services that
// each report an assumed context window would bury the failures. Tests of logging set a logger of their
// own.
func Quiet() { slog.SetDefault(slog.New(slog.DiscardHandler)) }
