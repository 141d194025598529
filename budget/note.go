package budget

type noteState struct{ step int }

// compactTool is the name of a tool by which the model can free space.
const compactTool = "compact_context"
