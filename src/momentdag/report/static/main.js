// The order matters: the theme sets the colours before anything is drawn.
startTheme();
startNavigation();
startPlots();
startGraph();
startVariable();
startTables();
startQuestions();
startCriticism();
startWhatIf();
startGlossary();
startDownloads();
document.documentElement.dataset.ready = "true";
