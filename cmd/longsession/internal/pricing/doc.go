// Package pricing has the flags that name models and their prices.
package pricing
