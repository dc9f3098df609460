// tippe schema: the vocabulary of scene files, for editors and for the documentation.

#include <stdio.h>

#include "arguments.h"
#include "command.h"
#include "tippe/scene.h"

int runSchema(int argumentCount, char** arguments) {
    bool markdown = false;
    const tpArgument table[] = {
        { "markdown", optionFlag, &markdown, NULL,
          "print Markdown tables instead, as in docs/scenes.md", NULL },
    };
    const tpArgumentTable line = {
        .command = "schema",
        .summary = "Prints the JSON Schema of scene files",
        .options = table,
        .optionCount = 1,
    };
    tpArgumentsResult parsed = parseArguments(&line, argumentCount, arguments);
    if (parsed != argumentsParsed) {
        return exitAfter(parsed);
    }
    char* text = NULL;
    size_t length = 0;
    tpError error;
    tpResult result = markdown ? tpFormatSceneVocabulary(NULL, &text, &length, &error)
                               : tpFormatSceneSchema(NULL, &text, &length, &error);
    if (result != tp_success) {
        fprintf(stderr, "tippe schema: %s\n", error.message);
        return exitCouldNotGoOn;
    }
    fwrite(text, 1, length, stdout);
    tpReleaseSceneText(NULL, text, length);
    return exitDone;
}
