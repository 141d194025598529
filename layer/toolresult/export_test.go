package toolresult

// What the tests outside of the package look at.
const PluginName = pluginName
