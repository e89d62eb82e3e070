"""What learning platforms export and import.

``canvas``        fills grades into a file of Canvas
``moodle``        fills grades into a worksheet of Moodle
``moodle_times``  when work came to Moodle
``template``      fills grades into any platform's table
``roster``        whose the numbers in a platform's file names are
``giving_back``   the archive of feedback pages that goes back
``spreadsheet``   cells that a spreadsheet does not run
"""
