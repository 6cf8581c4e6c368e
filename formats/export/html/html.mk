# The page of --html: style and scripts become two pieces of HTML, before and behind the data, as C initializers.
HTML_DIR     := formats/export/html
HTML_SCRIPTS := $(addprefix $(HTML_DIR)/,data.js model.js queues.js format.js layout.js draw.js marks.js overview.js details.js input.js tables.js flame.js page.js selection.js start.js)
$(BUILD)/gen/html_before.inc: $(HTML_DIR)/pack $(HTML_DIR)/page.html $(HTML_DIR)/page.css $(HTML_SCRIPTS)
	@mkdir -p $(@D)
	@$(HTML_DIR)/pack $(@D) $(HTML_DIR)/page.html $(HTML_DIR)/page.css $(HTML_SCRIPTS)
$(BUILD)/gen/html_behind.inc: $(BUILD)/gen/html_before.inc
$(BUILD)/formats/export/html/html_page.o $(BUILD)/fuzz/formats/export/html/html_page.o: $(BUILD)/gen/html_before.inc $(BUILD)/gen/html_behind.inc
