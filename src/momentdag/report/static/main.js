// The order matters: the theme sets the colours before anything is drawn.
startTheme();
startNavigation();
startPlots();
startGraph();
startVariable();
startTables();
startQuestions();
startCriticism();
document.documentElement.dataset.ready = "true";
