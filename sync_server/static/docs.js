// Shows the API to read and to try. A token that is entered here stays in memory, and is gone when the page is closed.
SwaggerUIBundle({
  url: document.getElementById("docs").dataset.description,
  dom_id: "#docs",
  deepLinking: true,
  defaultModelsExpandDepth: -1,
  displayRequestDuration: true,
  docExpansion: "none",
  filter: true,
  persistAuthorization: false,
  tryItOutEnabled: true,
  validatorUrl: null,
});
