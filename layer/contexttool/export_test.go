package contexttool

// What the tests outside of the package look at.
var CompactContext = newCompactContext
var MarkTaskDone = newMarkTaskDone
