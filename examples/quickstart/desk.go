package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/tool"
	"google.golang.org/adk/tool/functiontool"
)

// order is one row of the shop's books.
type order struct {
	ID       string  `json:"order_id"`
	Item     string  `json:"item"`
	SKU      string  `json:"sku"`
	Euros    float64 `json:"total_eur"`
	Status   string  `json:"status"`
	Carrier  string  `json:"carrier"`
	Tracking string  `json:"tracking"`
	ETA      string  `json:"eta"`
	// Stock is the number of items in the warehouse, and Problem the customer's future complaint.
	Stock   int    `json:"-"`
	Problem string `json:"-"`
}

var orders = []order{
	{"A-1041", "walnut desk lamp", "LMP-204", 129.50, "in transit", "Nordpost", "NP88213074", "12 March", 14, "the shade has a crack on the left side"},
	{"A-1057", "linen bedspread 220 cm", "LIN-220", 84.00, "delivered", "Nordpost", "NP88220915", "3 March", 3, "the colour is grey and not sage green"},
	{"A-1063", "cast-iron casserole 4.7 l", "IRN-047", 149.90, "delivered", "Velo Kurier", "VK5501932", "28 February", 0, "the enamel inside is chipped"},
	{"A-1078", "set of 6 hand-blown glasses", "GLS-006", 96.60, "in transit", "Velo Kurier", "VK5502408", "14 March", 22, "two of the six glasses are missing"},
	{"A-1082", "wool rug 170 x 240", "RUG-172", 389.00, "packing", "Brand & Sohn", "BS-77120-4", "19 March", 5, "the rug is 160 and not 170 cm wide"},
	{"A-1090", "wall clock, oak", "CLK-031", 72.25, "delivered", "Nordpost", "NP88231760", "1 March", 9, "it loses eleven minutes a day"},
	{"A-1102", "kitchen scale, 5 kg", "SCL-005", 38.90, "delivered", "Nordpost", "NP88240118", "6 March", 41, "the display stays dark with new batteries"},
	{"A-1115", "garden bench, larch", "BNC-118", 259.00, "in transit", "Brand & Sohn", "BS-77264-1", "21 March", 2, "one of the four legs is too short"},
}

type (
	orderArgs struct {
		OrderID string `json:"order_id"`
	}
	stockArgs struct {
		SKU string `json:"sku"`
	}
	refundArgs struct {
		OrderID string `json:"order_id"`
		Reason  string `json:"reason"`
	}
	stockResult struct {
		SKU       string `json:"sku"`
		Item      string `json:"item"`
		InStock   int    `json:"in_stock"`
		Warehouse string `json:"warehouse"`
	}
	refundResult struct {
		RefundID string  `json:"refund_id"`
		OrderID  string  `json:"order_id"`
		Euros    float64 `json:"amount_eur"`
		Reason   string  `json:"reason"`
		Days     int     `json:"paid_within_days"`
	}
)

// deskTools returns ordinary ADK function tools.
func deskTools() ([]tool.Tool, error) {
	lookup, err1 := functiontool.New(functiontool.Config{Name: "lookup_order", Description: "looks an order up by its number"},
		func(_ agent.ToolContext, args orderArgs) (order, error) { return find(args.OrderID) })
	stock, err2 := functiontool.New(functiontool.Config{Name: "check_stock", Description: "says how many of an item are in stock"},
		func(_ agent.ToolContext, args stockArgs) (stockResult, error) {
			i := slices.IndexFunc(orders, func(o order) bool { return o.SKU == args.SKU })
			if i < 0 {
				return stockResult{}, fmt.Errorf("no item %q", args.SKU)
			}
			return stockResult{args.SKU, orders[i].Item, orders[i].Stock, "Hall 3, Bremen"}, nil
		})
	refund, err3 := functiontool.New(functiontool.Config{Name: "refund_order", Description: "refunds an order"},
		func(_ agent.ToolContext, args refundArgs) (refundResult, error) {
			o, err := find(args.OrderID)
			return refundResult{refundID(o), o.ID, o.Euros, args.Reason, 5}, err
		})
	return []tool.Tool{lookup, stock, refund}, errors.Join(err1, err2, err3)
}

func find(id string) (order, error) {
	for _, o := range orders {
		if o.ID == id {
			return o, nil
		}
	}
	return order{}, fmt.Errorf("no order %q", id)
}

func refundID(o order) string { return "R-" + strings.TrimPrefix(o.ID, "A-") + "-" + o.SKU }
