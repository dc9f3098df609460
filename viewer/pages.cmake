# The pages, as C files that are part of the program: TIPPE_PAGES. They need node and npm, and the packages
# that package-lock.json names; without node the program is built all the same and says what it lacks.
option(TIPPE_PAGE "Build the page into the program (needs node and npm)" ON)

set(viewer ${PROJECT_SOURCE_DIR}/viewer)
set(viewer_out ${CMAKE_BINARY_DIR}/viewer)
find_program(TIPPE_NODE NAMES node nodejs)
find_program(TIPPE_NPM npm)
set(TIPPE_PAGES ${viewer_out}/compare.c ${viewer_out}/replay.c)

if(TIPPE_PAGE AND TIPPE_NODE AND TIPPE_NPM)
    set(viewer_sources
        pages/compare.html
        pages/replay.html
        src/base.css
        src/bodies.js
        src/change.js
        src/export_menu.js
        src/law.js
        src/materials.js
        src/page.js
        src/compare.css
        src/compare.js
        src/contacts.js
        src/copies.js
        src/crowd.js
        src/director.js
        src/dom.js
        src/findings.js
        src/forces.js
        src/format.js
        src/frames.js
        src/hidden.js
        src/joints.js
        src/lanes.js
        src/live.js
        src/machine.js
        src/plot.js
        src/plots.js
        src/player.js
        src/quality.js
        src/replay.css
        src/replay.js
        src/run.js
        src/shapes.js
        src/source.js
        src/stage.js
        src/theme.js
        src/timeline.js
        src/trails.js
        src/webm.js)
    list(TRANSFORM viewer_sources PREPEND ${viewer}/)
    add_custom_command(OUTPUT ${viewer}/node_modules/.tippe
        COMMAND ${TIPPE_NPM} ci --ignore-scripts --silent
        COMMAND ${CMAKE_COMMAND} -E touch ${viewer}/node_modules/.tippe
        DEPENDS ${viewer}/package.json ${viewer}/package-lock.json
        WORKING_DIRECTORY ${viewer}
        COMMENT "Fetching the packages of the page (leave it out with -DTIPPE_PAGE=OFF)")
    add_custom_command(OUTPUT ${viewer_out}/compare.html ${viewer_out}/replay.html
        COMMAND ${TIPPE_NODE} build.mjs ${viewer_out}
        DEPENDS ${viewer}/node_modules/.tippe ${viewer}/build.mjs ${viewer_sources}
        WORKING_DIRECTORY ${viewer}
        COMMENT "Building the pages")
    tippe_embed(tp_compareHtml ${viewer_out}/compare.html ${viewer_out}/compare.c)
    tippe_embed(tp_replayHtml ${viewer_out}/replay.html ${viewer_out}/replay.c)
else()
    message(WARNING "no node and npm, or TIPPE_PAGE is off: the program will have no page to show runs with")
    foreach(page compare replay)
        file(WRITE ${viewer_out}/${page}.c
            "#include \"page_assets.h\"\nconst unsigned char tp_${page}Html[1] = { 0 };\nconst size_t tp_${page}HtmlSize = 0;\n")
    endforeach()
endif()
