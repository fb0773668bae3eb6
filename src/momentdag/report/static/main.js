// The order matters: the theme's colours are there before anything is drawn.
startTheme();
startNavigation();
startPlots();
startGraph();
startVariable();
startTables();
startQuestions();
startCriticism();
document.documentElement.dataset.ready = "true";
