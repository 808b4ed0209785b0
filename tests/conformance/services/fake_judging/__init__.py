"""The fake judge of the tests of the plugin, as a service of the process that runs share."""
